package exec

import (
	"context"
	"time"

	"klawbot/tools"
	"klawbot/tools/sandbox"
)

// patience is how long what runs outside the sandbox waits for the commands in
// it to end.
const patience = 10 * time.Second

// alone waits until no command runs in the sandbox, and lets none start until
// open is called. Such a command could change what is done outside, between the
// look at the files of the workspace and the use of them.
func alone(ctx context.Context, gate *sandbox.Gate) (open func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	open, err = gate.Close(ctx)
	if err != nil {
		return nil, &refusalError{tools.Execution, "a command runs in the sandbox and could change the files meanwhile; wait for its end, or end it with shell_manage"}
	}
	return open, nil
}
