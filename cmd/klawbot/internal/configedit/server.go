package configedit

import (
	"reflect"

	"klawbot/cmd/klawbot/internal/config"
	"klawbot/cmd/klawbot/internal/usage"
	"klawbot/cmd/klawbot/internal/yamledit"
	"klawbot/internal/redact"
)

// errServerByHand means that the section is written in a way that the editor
// leaves alone.
var errServerByHand = byHand("edit tools.mcp")

func serverPath(name string) []string { return []string{"tools", "mcp", name} }

// AddServer adds an MCP server to config.yaml, whose section is written in braces.
func AddServer(s config.Source, name, section string) error {
	return editServers(s, name, true, func(text []byte) ([]byte, error) {
		return yamledit.Add(text, serverPath(name), section)
	})
}

// RemoveServer removes an MCP server from config.yaml.
func RemoveServer(s config.Source, name string) error {
	return editServers(s, name, false, func(text []byte) ([]byte, error) {
		return yamledit.Remove(text, serverPath(name))
	})
}

// editServers changes the MCP servers in config.yaml. The proof: read back, the
// new text has the server, or has it not, and is the same in everything else.
func editServers(s config.Source, name string, there bool, edit func([]byte) ([]byte, error)) error {
	if s.File == "" {
		return ErrNoFile
	}
	return change(s, "config.yaml", func(text []byte) ([]byte, error) {
		return provenServers(s, text, name, there, edit)
	})
}

func provenServers(s config.Source, text []byte, name string, there bool, edit func([]byte) ([]byte, error)) ([]byte, error) {
	s.Redact = &redact.Set{}
	before, err := s.Parse(text)
	if err != nil {
		return nil, err
	}
	if _, is := before.Tools.MCP[name]; is == there {
		if there {
			return nil, usage.Errorf("there is an MCP server %s already; klawbot mcp remove %s takes it out", name, name)
		}
		return nil, usage.Errorf("there is no MCP server %s; klawbot mcp list shows the ones there are", name)
	}
	changed, err := edit(text)
	if err != nil {
		return nil, errServerByHand
	}
	after, err := s.Parse(changed)
	if err != nil {
		return nil, err // of the new server: the text was well before
	}
	_, is := after.Tools.MCP[name]
	delete(before.Tools.MCP, name)
	delete(after.Tools.MCP, name)
	if len(before.Tools.MCP) == 0 && len(after.Tools.MCP) == 0 {
		before.Tools.MCP, after.Tools.MCP = nil, nil
	}
	if is != there || !reflect.DeepEqual(before.Config, after.Config) {
		return nil, errServerByHand
	}
	return changed, nil
}
