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

  it('nests lists', () => {
    expect(drawn('- a\n  1. b')).toBe(
      '<ul><li><p dir="auto">a</p><ol start="1"><li><p dir="auto">b</p></li></ol></li></ul>',
    )
  })

  it('limits nesting', () => {
    expect(drawn('> '.repeat(5000)).split('<blockquote>')).toHaveLength(9)
  })

  it('aligns table cells', () => {
    expect(drawn('|a|\n|-:|\n|1|')).toContain('<td class="right">1</td>')
  })
})
