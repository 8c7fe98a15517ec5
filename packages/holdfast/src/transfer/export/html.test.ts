import { aMessage, aMeta, aToolCall } from '@holdfast/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headHtml, messageHtml, tailHtml } from './html.ts'

/** Texts that would do something, were they anything but text. */
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
    headHtml(aMeta({ title: text, workspace: text })),
    messageHtml(aMessage('user', { text })),
    messageHtml(aMessage('assistant', { text })),
    messageHtml(aMessage('thinking', { text })),
    messageHtml(aToolCall({ tool: text, args: { [text]: text }, result: { text } })),
    messageHtml(aMessage('notice', { level: 'error', text })),
    tailHtml,
  ].join('')

/** The tags of a text, as a browser would find them. */
const tagsOf = (html: string): readonly string[] => html.match(/<[!/a-z][^>]*>/gi) ?? []

describe('a session as HTML', () => {
  const plain = tagsOf(page('plain'))

  it.each(hostile)('shows %j as text, and nothing else', (text) => {
    const html = page(text)
    expect(tagsOf(html)).toEqual(plain)
    expect(html.isWellFormed()).toBe(true)
    expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069\u200b\u{e0000}-\u{e007f}]/u)
  })

  it('shows any text as text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        fc.pre(text.trim() !== '')
        expect(tagsOf(page(text))).toEqual(plain)
      }),
    )
  })

  it('loads, runs and sends nothing, by its own word', () => {
    const html = page('hi')
    expect(html).toContain(
      `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'`,
    )
    expect(html).not.toMatch(/<(script|link|iframe|img|form)|url\(|@import|https?:\/\//i)
  })

  it('folds tool calls, with what was asked on the fold', () => {
    const html = messageHtml(aToolCall({ result: { text: 'hi\n' } }))
    expect(html).toContain('<details><summary>shell {&quot;command&quot;:&quot;echo hi&quot;} · complete')
    expect(html).toContain('<pre>hi\n</pre></details>')
  })

  it('sets code between fences apart, as text', () => {
    const html = messageHtml(aMessage('assistant', { text: 'Run:\n```sh\nls <dir>\n```\nthen look.' }))
    expect(html).toContain('<div class="text">Run:</div><pre>ls &lt;dir&gt;</pre><div class="text">then look.</div>')
    expect(messageHtml(aMessage('assistant', { text: '```\nnever closed' }))).not.toContain('<pre>')
  })
})
