import { aMessage, aMeta, aToolCall } from '@holdfast/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { head, message, tail } from './html.ts'

/** Texts that would do harm if they were not escaped. */
const hostile = [
  '<script>alert(1)</script>',
  '</title></style><script>alert(2)</script>',
  '"><img src=x onerror=alert(3)>',
  "' onmouseover='alert(4)",
  '<svg/onload=alert(5)>',
  '<a href="javascript:alert(6)">here</a>',
  '<iframe srcdoc="<b>7</b>"></iframe>',
  '<!-- --><base href="//evil.example/">',
  '</pre></details></article><form action="//evil.example"><button>',
  '&lt;script&gt;alert(8)&lt;/script&gt;',
  '<meta http-equiv="refresh" content="0;url=//evil.example">',
  '\u202eexe.txt\u202c \u2066hidden\u2069 \u200b\u{e0041}',
  '\u0000\u001b]0;title\u0007\r',
  '\ud800 half a character',
  '`7` {{7*7}} %3Cscript%3E',
  'xmp</xmp><plaintext>',
]

const page = (text: string): string =>
  [
    head(aMeta({ title: text, workspace: text })),
    message(aMessage('user', { text })),
    message(aMessage('assistant', { text })),
    message(aMessage('thinking', { text })),
    message(aToolCall({ tool: text, args: { [text]: text }, result: { text } })),
    message(aMessage('notice', { level: 'error', text })),
    tail,
  ].join('')

/** Returns the tags a browser would find. */
const tagsOf = (html: string): readonly string[] => html.match(/<[!/a-z][^>]*>/gi) ?? []

/** The tags that markdown may add, all without anything that runs or loads. */
const markdownTag =
  /^<\/?(?:h3|ul|ol start="\d+"|ol|li|blockquote|table|tr|t[hd](?: class="(?:left|center|right)?")?|hr|code|strong|em|s|pre|div class="text"|div|a href="https?:[^"<>]*" rel="noopener noreferrer nofollow"|a)>$/
const ownTags = (html: string): readonly string[] => tagsOf(html).filter((tag) => !markdownTag.test(tag))

describe('a session as HTML', () => {
  const plain = ownTags(page('plain'))

  it.each(hostile)('escapes %j', (text) => {
    const html = page(text)
    expect(ownTags(html)).toEqual(plain)
    expect(html.isWellFormed()).toBe(true)
    expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069\u200b\u{e0000}-\u{e007f}]/u)
  })

  it('escapes any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        fc.pre(text.trim() !== '')
        expect(ownTags(page(text))).toEqual(plain)
      }),
    )
  })

  it('forbids loading, running and sending anything', () => {
    const html = page('hi')
    expect(html).toContain(
      `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'`,
    )
    expect(html).not.toMatch(/<(script|link|iframe|img|form)|url\(|@import|https?:\/\//i)
  })

  it('collapses tool calls, with the request as summary', () => {
    const html = message(aToolCall({ result: { text: 'hi\n' } }))
    expect(html).toContain('<details><summary>shell {&quot;command&quot;:&quot;echo hi&quot;} · complete')
    expect(html).toContain('<pre>hi\n</pre></details>')
  })

  it('draws markdown: code, lists, tables, quotes and safe links', () => {
    const drawn = (text: string) => message(aMessage('assistant', { text }))
    expect(drawn('Run:\n```sh\nls <dir>\n```\nthen look.')).toContain(
      '<div class="text">Run:</div><pre>ls &lt;dir&gt;</pre><div class="text">then look.</div>',
    )
    expect(drawn('```\nnever closed')).toContain('<pre>never closed</pre>')
    expect(drawn('2. a\n   - **b**')).toContain(
      '<ol start="2"><li><div class="text">a</div><ul><li><div class="text"><strong>b</strong></div></li></ul></li></ol>',
    )
    expect(drawn('|a|b|\n|-|-:|\n|1|`2`|')).toContain('<td class="right"><code>2</code></td>')
    expect(drawn('> q')).toContain('<blockquote><div class="text">q</div></blockquote>')
    expect(drawn('[x](https://a.test/?a&b)')).toContain('<a href="https://a.test/?a&amp;b" rel=')
    expect(drawn('[x](javascript:alert(1))')).not.toContain('<a ')
  })
  it('draws markdown of any length', () => {
    const text = Array.from({ length: 5000 }, (_, index) => `# Part ${index}\n\nSome **words** here.\n\n`).join('')
    const drawn = message(aMessage('assistant', { text }))
    expect([text.length > 150_000, drawn.split('<h3>').length - 1]).toEqual([true, 5000])
    expect(drawn).toContain('<h3>Part 4999</h3><div class="text">Some <strong>words</strong> here.</div>')
  })
})
