package memory

import (
	"context"
	"strings"

	"klawbot/engine/internal/store"
)

// Section is a section of a page of the manual.
type Section struct{ Page, Title, Text string }

// analysis changes with the terms of the index, so that the manual is indexed again.
const analysis = "1 "

// docsState identifies the sections and how they are indexed.
func docsState(all []Section) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.Page + "\x00" + s.Title + "\x00" + s.Text + "\x00")
	}
	return analysis + hash([]byte(b.String()))
}

// DocsIndexed reports whether the index has exactly these sections.
func (m *Memory) DocsIndexed(ctx context.Context, all []Section) (ready bool, err error) {
	err = m.store.Read(ctx, func(tx *store.Tx) error {
		state, err := tx.Index().Indexed(store.KindDoc, "")
		ready = state == docsState(all)
		return err
	})
	return ready, err
}

// IndexDocs indexes the sections of the manual, a page in a transaction.
// Pages that have not changed since the version before stay as they are.
func (m *Memory) IndexDocs(ctx context.Context, all []Section, size ChunkSize) error {
	if ready, err := m.DocsIndexed(ctx, all); err != nil || ready {
		return err
	}
	var known map[string]string
	err := m.store.Read(ctx, func(tx *store.Tx) (err error) {
		known, err = tx.Index().IndexedSources(store.KindDoc)
		return err
	})
	if err != nil {
		return err
	}
	pages := map[string][]Section{}
	for _, s := range all {
		pages[s.Page] = append(pages[s.Page], s)
	}
	for page := range known {
		if len(pages[page]) == 0 && page != "" {
			if err := replaceSource(ctx, m.store, store.KindDoc, page, nil, ""); err != nil {
				return err
			}
		}
	}
	for page, sections := range pages {
		state := docsState(sections)
		if known[page] == state {
			continue
		}
		if err := replaceSource(ctx, m.store, store.KindDoc, page, docChunks(sections, size), state); err != nil {
			return err
		}
	}
	return m.store.Write(ctx, func(tx *store.Tx) error { return tx.Index().SetIndexed(store.KindDoc, "", docsState(all)) })
}

// docChunks are the chunks of a page. Each begins with the title of its section.
func docChunks(sections []Section, size ChunkSize) []store.Chunk {
	var chunks []store.Chunk
	for _, s := range sections {
		for _, piece := range Split(s.Text, size.Size, 0) {
			chunks = append(chunks, store.Chunk{Kind: store.KindDoc, Source: s.Page, Content: s.Title + "\n" + piece})
		}
	}
	return chunks
}

// DocSection is the section that a chunk of the manual is a piece of.
func DocSection(c store.Chunk) Section {
	title, text, _ := strings.Cut(c.Content, "\n")
	return Section{Page: c.Source, Title: title, Text: text}
}
