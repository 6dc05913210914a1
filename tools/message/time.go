package message

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"klawbot/tools"
)

type timeArgs struct {
	TZ string `json:"tz,omitempty"`
}

type clock struct{ location func() *time.Location }

func (k clock) now(_ context.Context, _ tools.Call, a timeArgs) tools.Result {
	zone := time.UTC
	if k.location != nil {
		zone = cmp.Or(k.location(), zone)
	}
	if a.TZ != "" {
		var err error
		if zone, err = time.LoadLocation(a.TZ); err != nil {
			return tools.Fail(tools.Validation, fmt.Sprintf("unknown time zone %q; an IANA name is expected, such as Europe/Berlin", a.TZ))
		}
	}
	now := time.Now().In(zone)
	return tools.OK(now.Format("2006-01-02 15:04:05 Monday ") + name(now))
}

// name is the name of the zone, or its offset if the system does not name its zone.
func name(t time.Time) string {
	if zone := t.Location().String(); zone != "Local" {
		return zone
	}
	return "UTC" + t.Format("-07:00")
}
