//go:build long

package llm_test

import "testing"

func TestLongAnAnswerCutAtEveryByte(t *testing.T) { cutAnswers(t, 1) }
