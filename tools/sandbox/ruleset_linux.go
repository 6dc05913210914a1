package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// ruleset makes the rules of Landlock.
func (c *confinement) ruleset() (*os.File, error) {
	read, err := rules(c.Read, landlock.RODirs, landlock.ROFiles)
	if err != nil {
		return nil, err
	}
	write, err := rules(c.Write, func(p ...string) landlock.FSRule { return landlock.RWDirs(p...).WithRefer() }, landlock.RWFiles)
	if err != nil {
		return nil, err
	}
	config := landlock.V6
	if c.Network {
		config.HandledAccessNet = 0
	}
	if c.BestEffort {
		config = config.BestEffort()
	}
	fd, _, err := config.NewRulesetFD(append(read, write...)...) // V6 has no flags
	if err != nil {
		return nil, fmt.Errorf("landlock: %w", err)
	}
	if fd < 0 {
		return nil, errors.New("landlock: this kernel has none")
	}
	return os.NewFile(uintptr(fd), "ruleset"), nil
}

// rules are the rules for paths, which are folders or files.
func rules(paths []string, dirs, files func(...string) landlock.FSRule) (all []landlock.Rule, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			all = append(all, dirs(p))
		default:
			all = append(all, files(p))
		}
	}
	return all, nil
}

// minLandlock is the version of Landlock that keeps commands from signalling
// the processes outside.
const minLandlock = 6

// landlockSupport says what is missing for landlock.
func landlockSupport() error {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return errors.New("this kernel has no Landlock; use bwrap or docker")
	}
	if v < minLandlock {
		return fmt.Errorf("this kernel's Landlock is too old (version %d, %d is needed, Linux 6.12); use bwrap or docker", v, minLandlock)
	}
	return nil
}

// minReading is the version of Landlock that keeps a program from files. Below it a
// rule that lets files be moved would be no rule.
const minReading = 2

// readingSupport says what is missing for a Reach.
func readingSupport() error {
	if v, err := ll.LandlockGetABIVersion(); err != nil || v < minReading {
		return errors.New("this kernel has no Landlock, or too old a one (Linux 5.19 is needed)")
	}
	return nil
}
