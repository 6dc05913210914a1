package config

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"klawbot/engine"
	"klawbot/gateway"
)

// heartbeat is what the engine looks after by itself.
func (c *Config) heartbeat() engine.Heartbeat {
	h := engine.Heartbeat{InjectInto: c.Heartbeat.InjectInto, PerDayTokens: c.Heartbeat.PerDayTokens}
	// Both were checked when they were read.
	h.Every, _ = parseInterval(c.Heartbeat.Every)
	h.Quiet, _ = parseQuietHours(c.Heartbeat.QuietHours)
	return h
}

var errInterval = errors.New(`must be a time of a minute at least, such as 30m, 2h or PT1H, or "" for off`)

// parseInterval reads a time such as 30m, 2h or PT1H; "" and off are 0.
func parseInterval(text string) (time.Duration, error) {
	if text == "" || text == "off" {
		return 0, nil
	}
	if iso, ok := strings.CutPrefix(text, "PT"); ok {
		text = strings.ToLower(iso)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Minute || d > 31*24*time.Hour {
		return 0, errInterval
	}
	return d, nil
}

func interval(v any) error {
	_, err := parseInterval(v.(string))
	return err
}

// chatWithChannel is the text form of a chat, or nothing.
func chatWithChannel(v any) error {
	if v.(string) == "" {
		return nil
	}
	if _, err := gateway.ParseChatID(v.(string)); err != nil {
		return errors.New(`must be a chat with its channel, such as telegram_123456, or ""`)
	}
	return nil
}

var quietForm = regexp.MustCompile(`^\s*([01]?\d|2[0-4]):([0-5]\d)\s*[-–]\s*([01]?\d|2[0-4]):([0-5]\d)\s*$`)

// parseQuietHours reads "22:00-07:00"; "" is none.
func parseQuietHours(text string) (q engine.QuietHours, err error) {
	if text == "" {
		return q, nil
	}
	m := quietForm.FindStringSubmatch(text)
	if m == nil {
		return q, errors.New(`must be two times of the day such as 22:00-07:00, or "" for none`)
	}
	at := func(hours, minutes string) time.Duration {
		d, _ := time.ParseDuration(hours + "h" + minutes + "m") // the pattern has only digits there
		return d
	}
	q = engine.QuietHours{From: at(m[1], m[2]), To: at(m[3], m[4])}
	if q.From > 24*time.Hour || q.To > 24*time.Hour || q.From == q.To {
		return engine.QuietHours{}, errors.New("must be two different times of the day such as 22:00-07:00")
	}
	return q, nil
}

func quietHours(v any) error {
	_, err := parseQuietHours(v.(string))
	return err
}
