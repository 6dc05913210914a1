package telegramtest

import "klawbot/internal/pipetest"

// PipeListener is a listener without a network.
type PipeListener = pipetest.Listener

// NewPipeListener makes one whose server has the URL http://telegram.test.
func NewPipeListener() *PipeListener { return pipetest.New("telegram.test") }
