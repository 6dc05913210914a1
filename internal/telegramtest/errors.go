package telegramtest

import (
	"fmt"
	"net/http"
)

// apiError is an answer that is not ok.
type apiError struct {
	status      int
	description string
	retryAfter  int
	migrateTo   int64
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.status, e.description) }

func badRequest(format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, description: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func forbidden(text string) *apiError {
	return &apiError{status: http.StatusForbidden, description: "Forbidden: " + text}
}

func conflict(text string) *apiError {
	return &apiError{status: http.StatusConflict, description: "Conflict: " + text}
}

func tooMany(seconds int) *apiError {
	return &apiError{
		status:      http.StatusTooManyRequests,
		description: fmt.Sprintf("Too Many Requests: retry after %d", seconds),
		retryAfter:  seconds,
	}
}

func unauthorized() *apiError {
	return &apiError{status: http.StatusUnauthorized, description: "Unauthorized"}
}

func notFound() *apiError {
	return &apiError{status: http.StatusNotFound, description: "Not Found"}
}

func errNotUTF8() *apiError { return badRequest("strings must be encoded in UTF-8") }

// The texts that are needed in more than one place.
const (
	otherPoller = "terminated by other getUpdates request; make sure that only one bot instance is running"
	hookActive  = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
	hookSet     = "terminated by setWebhook request"
	notModified = "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"
)
