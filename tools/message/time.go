package message

import (
	"context"
	"fmt"
	"time"

	"klawbot/tools"
)

type timeArgs struct {
	TZ string `json:"tz,omitempty"`
}

// clock tells the time in the bot's zone or another one.
type clock struct {
	location func() *time.Location
}

func (k clock) now(_ context.Context, _ tools.Call, a timeArgs) tools.Result {
	zone := k.zone()
	if a.TZ != "" {
		var err error
		if zone, err = time.LoadLocation(a.TZ); err != nil {
			return tools.Fail(tools.Validation, fmt.Sprintf("unknown time zone %q; an IANA name is expected, such as Europe/Berlin", a.TZ))
		}
	}
	now := time.Now().In(zone)
	return tools.OK(now.Format("2006-01-02 15:04:05 Monday ") + name(now))
}

func (k clock) zone() *time.Location {
	if k.location != nil {
		if zone := k.location(); zone != nil {
			return zone
		}
	}
	return time.UTC
}

// name is the zone's name, or its offset where the system does not say which
// zone it is in.
func name(t time.Time) string {
	if zone := t.Location().String(); zone != "Local" {
		return zone
	}
	return "UTC" + t.Format("-07:00")
}
