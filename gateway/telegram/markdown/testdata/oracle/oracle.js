// Says of each line of JSON that it reads what Telegram's own library says of
// it: whether it takes our text with our entities, and what it reads from the
// same thing written as HTML.
const tdl = require('tdl')
const { getTdjson } = require('prebuilt-tdlib')

tdl.configure({ tdjson: getTdjson(), verbosityLevel: 0 })

const names = {
  bold: 'Bold', italic: 'Italic', strikethrough: 'Strikethrough', code: 'Code', text_link: 'TextUrl',
  blockquote: 'BlockQuote', expandable_blockquote: 'ExpandableBlockQuote',
}

function entity(e) {
  const name = e.type === 'pre' ? (e.language ? 'PreCode' : 'Pre') : names[e.type]
  return { _: 'textEntity', offset: e.offset, length: e.length, type: { _: 'textEntityType' + name, url: e.url, language: e.language } }
}

require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const q = JSON.parse(line)
  const ours = tdl.execute({ _: 'getMarkdownText', text: { _: 'formattedText', text: q.text, entities: q.entities.map(entity) } })
  const theirs = tdl.execute({ _: 'parseTextEntities', text: q.html, parse_mode: { _: 'textParseModeHTML' } })
  console.log(JSON.stringify({
    fault: [ours, theirs].filter(x => x._ === 'error').map(x => x.message).join('; '),
    text: theirs.text,
    entities: (theirs.entities || []).map(e => ({ type: e.type._.slice('textEntityType'.length), offset: e.offset, length: e.length })),
  }))
})
