package params

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"klawbot/internal/clip"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"klawbot/tools/near"
)

// maxFaults is how many faults of a kind are named.
const maxFaults = 20

// maxChoices is how many values of an enum a fault names.
const maxChoices = 100

// faults validates arguments and says what is wrong with them, in the words of a
// model, always in the same order.
func (s *Schema) faults(args map[string]any) []string {
	err := s.compiled.Validate(args)
	if err == nil {
		return nil
	}
	var invalid *validator.ValidationError
	if !errors.As(err, &invalid) {
		return []string{err.Error()}
	}
	var missing, others []string
	units := leaves(invalid.BasicOutput().Errors)
	slices.SortStableFunc(units, func(a, b validator.OutputUnit) int {
		return cmp.Or(cmp.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.KeywordLocation, b.KeywordLocation))
	})
	for _, unit := range units[:min(len(units), maxFaults)] {
		switch k := unit.Error.Kind.(type) {
		case *kind.Required:
			for _, name := range k.Missing[:min(len(k.Missing), maxFaults)] {
				missing = append(missing, "Missing required parameter: "+strings.TrimPrefix(at(unit, name), "."))
			}
		case *kind.AdditionalProperties:
			slices.Sort(k.Properties)
			for _, name := range k.Properties[:min(len(k.Properties), maxFaults)] {
				others = append(others, s.unknown(at(unit, name)))
			}
		default:
			others = append(others, fault(unit))
		}
	}
	slices.Sort(others)
	return append(missing, slices.Compact(others)...)
}

// leaves are the faults that have no finer ones below them.
func leaves(units []validator.OutputUnit) []validator.OutputUnit {
	return slices.DeleteFunc(units, func(u validator.OutputUnit) bool {
		switch u.Error.Kind.(type) {
		case *kind.Group, *kind.Schema, *kind.Reference, *kind.AllOf, *kind.AnyOf:
			return true
		}
		return false
	})
}

// at is the place of a value, or of one of its members, as a path with points.
func at(u validator.OutputUnit, member string) string {
	place := strings.ReplaceAll(strings.TrimPrefix(u.InstanceLocation, "/"), "/", ".")
	switch {
	case place == "":
		return member
	case member == "":
		return place
	}
	return place + "." + member
}

func (s *Schema) unknown(name string) string {
	known := slices.Sorted(maps.Keys(s.Properties))
	if close := near.Names(name, known, near.Most); len(close) > 0 {
		return fmt.Sprintf("unknown parameter '%s'%s", clip.Runes(name, near.MaxName), near.DidYouMean(close))
	}
	if len(known) == 0 {
		return fmt.Sprintf("unknown parameter '%s'; the tool takes none", clip.Runes(name, near.MaxName))
	}
	return fmt.Sprintf("unknown parameter '%s'; there are %s", clip.Runes(name, near.MaxName), strings.Join(known, ", "))
}

func fault(u validator.OutputUnit) string {
	name := clip.Runes(at(u, ""), near.MaxName)
	switch k := u.Error.Kind.(type) {
	case *kind.Type:
		return fmt.Sprintf("parameter '%s' must be of type %s, not %s", name, strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		words := make([]string, 0, min(len(k.Want), maxChoices))
		for _, w := range k.Want[:cap(words)] {
			words = append(words, clip.Runes(fmt.Sprint(w), near.MaxName))
		}
		if len(k.Want) > maxChoices {
			words = append(words, "…")
		}
		return fmt.Sprintf("parameter '%s' must be one of %s", name, strings.Join(words, ", "))
	case *kind.Minimum:
		return fmt.Sprintf("parameter '%s' must be at least %s", name, decimal(k.Want))
	case *kind.Maximum:
		return fmt.Sprintf("parameter '%s' must be at most %s", name, decimal(k.Want))
	}
	return fmt.Sprintf("parameter '%s': %s", name, clip.Runes(u.Error.String(), 200))
}

// decimal is a bound as people write it: 273.15, not 5463/20.
func decimal(bound *big.Rat) string {
	if digits, exact := bound.FloatPrec(); exact {
		return bound.FloatString(digits)
	}
	return bound.RatString()
}
