package telegramtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// defaultTimeout is how long a control request waits when it does not say.
const defaultTimeout = 10 * time.Second

var errTimeout = errors.New("timeout")

// controlFault arranges faults.
func (s *Server) controlFault(verb string, o order) (any, error) {
	switch verb {
	case "fault":
		delay, err := duration(o.Delay, 0)
		if err != nil {
			return nil, err
		}
		o.Fault.Delay = delay
		return done{true}, s.checkedFault(o.Fault)
	case "clear_faults":
		s.ClearFaults()
		return done{true}, nil
	default:
		return nil, errUnknownVerb
	}
}

func (s *Server) checkedFault(f Fault) error {
	switch f.Kind {
	case FaultError, FaultHTML, FaultReset, FaultDelay, FaultHang, FaultMalformed:
		s.Fault(f)
		return nil
	default:
		return fmt.Errorf("unknown kind of fault %q", f.Kind)
	}
}

// controlLook shows what there is.
func (s *Server) controlLook(verb string, o order) (any, error) {
	switch verb {
	case "messages":
		return append([]Message{}, s.Messages(o.Chat)...), nil
	case "transcript":
		return struct {
			Text string `json:"text"`
		}{s.Transcript(o.Chat)}, nil
	case "journal":
		calls := s.Calls(o.Method)
		i, _ := slices.BinarySearchFunc(calls, o.After, func(c Call, n int64) int { return c.N - int(n) - 1 })
		return append([]Call{}, calls[i:]...), nil
	case "status":
		return s.status(), nil
	case "save":
		return json.RawMessage(s.Save()), nil
	default:
		return nil, errUnknownVerb
	}
}

type status struct {
	Pending int  `json:"pending"`
	Polling bool `json:"polling"`
	Calls   int  `json:"calls"`
}

func (s *Server) status() (now status) {
	s.View(func(v State) { now = status{v.Pending(), v.Polling(), v.Count("")} })
	return now
}

// controlWait waits for a condition or its deadline.
func (s *Server) controlWait(ctx context.Context, verb string, o order) (any, error) {
	timeout, err := duration(o.Timeout, defaultTimeout)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	var result any
	switch verb {
	case "wait":
		pattern, bad := regexp.Compile(o.Pattern)
		if bad != nil {
			return nil, fmt.Errorf("pattern: %w", bad)
		}
		result, err = s.WaitText(ctx, o.Chat, o.After, pattern)
	case "wait_calls":
		err = s.WaitFor(ctx, func(v State) bool { return v.Count(o.Method) >= o.Count })
		result = struct {
			Count int `json:"count"`
		}{s.Count(o.Method)}
	default:
		return nil, fmt.Errorf("%w %q", errUnknownVerb, verb)
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w; the chat:\n%s", context.Cause(ctx), s.Transcript(o.Chat))
	}
	return result, err
}

func duration(text string, unset time.Duration) (time.Duration, error) {
	if text == "" {
		return unset, nil
	}
	return time.ParseDuration(text)
}
