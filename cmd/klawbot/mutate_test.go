package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// seedUpdates are updates of every kind, with USER and CHAT where the sender and
// the chat stand and TYPE where the chat's type does.
var seedUpdates = []string{
	`{"message":MESSAGE,"text":"hello"}}`,
	`{"message":MESSAGE,"text":"/status now","entities":[{"type":"bot_command","offset":0,"length":7}]}}`,
	`{"message":MESSAGE,"text":"see 😀 this","entities":[{"type":"text_link","offset":7,"length":4,"url":"https://a.b/"},{"type":"bold","offset":0,"length":3}]}}`,
	`{"message":MESSAGE,"photo":[{"file_id":"p","width":9,"height":9}],"caption":"look","media_group_id":"3"}}`,
	`{"message":MESSAGE,"voice":{"file_id":"v","duration":3}}}`,
	`{"message":MESSAGE,"document":{"file_id":"d","file_name":"../a.pdf","file_size":9}}}`,
	`{"message":MESSAGE,"sticker":{"file_id":"s","emoji":"😀","set_name":"Cats","width":1,"height":1}}}`,
	`{"message":MESSAGE,"location":{"latitude":1.5,"longitude":2.5}}}`,
	`{"message":MESSAGE,"poll":{"id":"1","question":"Q?","options":[{"text":"a","voter_count":0}]}}}`,
	`{"message":MESSAGE,"contact":{"first_name":"Bo","phone_number":"+1"}}}`,
	`{"message":MESSAGE,"text":"fwd","forward_origin":{"type":"user","date":1,"sender_user":{"id":7,"first_name":"Carl"}}}}`,
	`{"message":MESSAGE,"text":"why","reply_to_message":MESSAGE,"text":"said"},"quote":{"text":"said","position":0}}}`,
	`{"message":MESSAGE,"text":"x","external_reply":{"origin":{"type":"channel","date":1,"chat":{"id":-1,"type":"channel"},"message_id":2}}}}`,
	`{"message":MESSAGE,"new_chat_members":[{"id":7,"first_name":"x"}]}}`,
	`{"message":MESSAGE,"pinned_message":MESSAGE,"text":"x"}}}`,
	`{"message":MESSAGE,"rich_message":{"blocks":[]}}}`,
	`{"message":MESSAGE,"sender_chat":{"id":-5,"type":"channel"},"text":"x"}}`,
	`{"edited_message":MESSAGE,"text":"hello again","edit_date":2}}`,
	`{"callback_query":{"id":"q","from":{"id":USER,"first_name":"U"},"message":MESSAGE,"text":"x"},"data":"d","chat_instance":"1"}}`,
	`{"callback_query":{"id":"q","from":{"id":USER,"first_name":"U"},"inline_message_id":"i","data":"d"}}`,
	`{"my_chat_member":{"chat":{"id":CHAT,"type":"TYPE"},"from":{"id":USER,"first_name":"U"},"date":1,"old_chat_member":{"status":"left","user":{"id":1,"is_bot":true,"first_name":"B"}},"new_chat_member":{"status":"member","user":{"id":1,"is_bot":true,"first_name":"B"}}}}`,
	`{"stopped_message_generation":{"chat":{"id":CHAT,"type":"TYPE"},"draft_id":3}}`,
	`{"channel_post":{"message_id":1,"date":1,"chat":{"id":CHAT,"type":"channel"},"sender_chat":{"id":CHAT,"type":"channel"},"text":"x"}}`,
	`{"edited_channel_post":{"message_id":1,"date":1,"chat":{"id":CHAT,"type":"channel"},"text":"x"}}`,
	`{"message_reaction":{"chat":{"id":CHAT,"type":"TYPE"},"message_id":1,"user":{"id":USER},"date":1,"old_reaction":[],"new_reaction":[{"type":"emoji","emoji":"👍"}]}}`,
	`{"message_reaction_count":{"chat":{"id":CHAT,"type":"TYPE"},"message_id":1,"date":1,"reactions":[]}}`,
	`{"inline_query":{"id":"1","from":{"id":USER,"first_name":"U"},"query":"x","offset":""}}`,
	`{"chosen_inline_result":{"result_id":"1","from":{"id":USER,"first_name":"U"},"query":"x"}}`,
	`{"shipping_query":{"id":"1","from":{"id":USER,"first_name":"U"},"invoice_payload":"x"}}`,
	`{"pre_checkout_query":{"id":"1","from":{"id":USER,"first_name":"U"},"currency":"EUR","total_amount":1}}`,
	`{"poll":{"id":"1","question":"q","options":[]}}`,
	`{"poll_answer":{"poll_id":"1","user":{"id":USER,"first_name":"U"},"option_ids":[0]}}`,
	`{"chat_member":{"chat":{"id":CHAT,"type":"TYPE"},"from":{"id":USER,"first_name":"U"},"date":1}}`,
	`{"chat_join_request":{"chat":{"id":CHAT,"type":"TYPE"},"from":{"id":USER,"first_name":"U"},"user_chat_id":USER,"date":1}}`,
	`{"chat_boost":{"chat":{"id":CHAT,"type":"TYPE"},"boost":{"boost_id":"1"}}}`,
	`{"removed_chat_boost":{"chat":{"id":CHAT,"type":"TYPE"},"boost_id":"1"}}`,
	`{"business_connection":{"id":"1","user":{"id":USER,"first_name":"U"},"user_chat_id":USER}}`,
	`{"business_message":MESSAGE,"business_connection_id":"1","text":"x"}}`,
	`{"deleted_business_messages":{"business_connection_id":"1","chat":{"id":CHAT,"type":"TYPE"},"message_ids":[1]}}`,
	`{"purchased_paid_media":{"from":{"id":USER,"first_name":"U"},"paid_media_payload":"x"}}`,
	`{"guest_message":MESSAGE,"text":"x"}}`,
	`{"hologram":{"chat":{"id":CHAT,"type":"TYPE"},"from":{"id":USER}}}`,
}

// seedUpdate is one of them for a person at a place. Its MESSAGE is an object
// whose last brace the seed brings.
func seedUpdate(n int, user, chat int64, chatType string) any {
	message := `{"message_id":9,"date":1,"from":{"id":USER,"first_name":"U"},"chat":{"id":CHAT,"type":"TYPE"}`
	text := strings.NewReplacer("MESSAGE", message).Replace(seedUpdates[n%len(seedUpdates)])
	text = strings.NewReplacer("USER", fmt.Sprint(user), "CHAT", fmt.Sprint(chat), "TYPE", chatType).Replace(text)
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(fmt.Sprintf("seed %d: %v: %s", n, err, text)) // a mistake in the table
	}
	return v
}

// mutator damages JSON values, the same way for the same seed.
type mutator struct {
	random *rand.Rand
	other  func() any // the root of some other update
}

// mutate changes one to four places of a value.
func (m mutator) mutate(v any) any {
	for range 1 + m.random.IntN(4) {
		v = m.one(v)
	}
	return v
}

// one changes one place, deep in the value more often than at its root.
func (m mutator) one(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || m.random.IntN(6) == 0 {
			return m.replacement(v)
		}
		keys := slices.Sorted(maps.Keys(v))
		k := keys[m.random.IntN(len(keys))]
		switch m.random.IntN(8) {
		case 0:
			delete(v, k)
		case 1:
			v[k+"_x"] = v[k]
		default:
			v[k] = m.one(v[k])
		}
		return v
	case []any:
		if len(v) == 0 || m.random.IntN(4) == 0 {
			return m.replacement(v)
		}
		i := m.random.IntN(len(v))
		if v[i] = m.one(v[i]); m.random.IntN(4) == 0 {
			v = append(v, v[i])
		}
		return v
	}
	return m.replacement(v)
}

// replacement is something else in the place of v.
func (m mutator) replacement(v any) any {
	choices := []any{
		nil, true, 0, -1, 1.5, 1e300, json.Number("9223372036854775807"), json.Number("-9223372036854775808"), "", " ", "x", "\x00\u202e\ufeff", json.RawMessage(`"\ud83d"`),
		strings.Repeat("𝕏", 5000), "/stop", "private", "supergroup", []any{}, []any{[]any{}}, map[string]any{}, map[string]any{"id": 5}, v, []any{v}, m.other(), deep(200),
	}
	return choices[m.random.IntN(len(choices))]
}

func deep(n int) any {
	var v any = "bottom"
	for range n {
		v = []any{v}
	}
	return v
}

func TestMutatorKeepsItsSeeds(t *testing.T) {
	for n := range seedUpdates {
		if v, ok := seedUpdate(n, 1, 2, "private").(map[string]any); !ok || len(v) != 1 {
			t.Errorf("seed %d has %d kinds", n, len(v))
		}
	}
}
