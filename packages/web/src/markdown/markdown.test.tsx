import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { Markdown } from './markdown.tsx'

const drawn = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }))

describe('markdown on the page', () => {
  it('escapes HTML everywhere', () => {
    const hostile = '<img src=x onerror=alert(1)>'
    for (const text of [
      hostile,
      `# ${hostile}`,
      `- ${hostile}`,
      `> ${hostile}`,
      `\`${hostile}\``,
      `\`\`\`${hostile}\n${hostile}\n\`\`\``,
    ])
      expect(drawn(text)).not.toContain('<img')
    expect(drawn(hostile)).toContain('&lt;img')
  })

  it('opens links in a new tab without a referrer', () => {
    expect(drawn('[docs](https://a.test/)')).toContain('target="_blank" rel="noopener noreferrer nofollow"')
    expect(drawn('[x](javascript:alert(1)) [y](data:text/html,z)')).not.toContain('<a')
  })

  it('escapes hidden characters in code', () => {
    expect(drawn('`a\u202eb`')).toContain('a\\u{202e}b')
    expect(drawn('```\na\u200bb\n```')).toContain('a\\u{200b}b')
  })

  it('draws the ends of a long text first, and shows the rest as text until its turn', () => {
    const text = Array.from({ length: 30 }, (_, index) => `## Part ${index}\n\n${'word '.repeat(1000)}\n\n`).join('')
    const markup = drawn(text)
    expect(text.length).toBeGreaterThan(100_000)
    expect(markup).toMatch(/^<h3 class="heading-2" dir="auto">Part 0</)
    expect(markup).toContain('<p class="undrawn">## Part 8')
    expect(markup).toMatch(/<h3 class="heading-2" dir="auto">Part 29</)
  })

  it('nests lists', () => {
    expect(drawn('- a\n  1. b')).toBe(
      '<ul><li><p dir="auto">a</p><ol start="1"><li><p dir="auto">b</p></li></ol></li></ul>',
    )
  })

  it('leaves out no level of headings, whatever the text does', () => {
    const levels = (source: string) => [...drawn(source).matchAll(/<(h\d)/g)].map(([, level]) => level)
    expect(levels('## a\n#### b\n###### c\n### d\n# e')).toEqual(['h3', 'h4', 'h5', 'h4', 'h3'])
    expect(drawn('## a')).toBe('<h3 class="heading-2" dir="auto">a</h3>')
  })

  it('limits nesting', () => {
    expect(drawn('> '.repeat(5000)).split('<blockquote>')).toHaveLength(9)
  })

  it('shows task lists with boxes that cannot be changed', () => {
    expect(drawn('- [x] a\n- [ ] b')).toBe(
      '<ul><li class="task"><input type="checkbox" disabled="" aria-label="Done" checked=""/><p dir="auto">a</p></li>' +
        '<li class="task"><input type="checkbox" disabled="" aria-label="Not done"/><p dir="auto">b</p></li></ul>',
    )
  })

  it('loads no picture from the web, but links to it and names its server', () => {
    const html = drawn('![a cat](https://a.test/cat.png)')
    expect(html).not.toContain('<img')
    expect(html).toContain('href="https://a.test/cat.png" target="_blank" rel="noopener noreferrer nofollow"')
    expect(html).toContain('<span>a cat</span><small>a.test</small>')
  })

  it('draws a picture that the text holds', () => {
    const source = 'data:image/png;base64,iVBORw0KGgo='
    expect(drawn(`![dot](${source})`)).toContain(`<img class="inline-image" src="${source}" alt="dot"/>`)
  })

  it('links notes without changing the address, which is the route of the page', () => {
    const html = drawn('a[^x]\n\n[^x]: the note')
    expect(html).toContain('aria-label="Footnote 1"')
    expect(html).toContain('<li data-footnote="1" tabindex="-1"><p dir="auto">the note</p></li>')
    expect(html).not.toContain('href')
  })

  it('shows the source of a formula until it can be drawn', () => {
    expect(drawn('so $a<b$')).toContain('<code class="formula">a&lt;b</code>')
  })

  it('shows a diagram as its source, with its name', () => {
    expect(drawn('```mermaid\ngraph TD; a-->b\n```')).toMatch(/<span>mermaid<\/span>.*<code>graph TD; a--&gt;b<\/code>/)
  })

  it('aligns table cells', () => {
    expect(drawn('|a|\n|-:|\n|1|')).toContain('<td class="right">1</td>')
  })
})
