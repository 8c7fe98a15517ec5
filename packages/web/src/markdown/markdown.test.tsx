import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { Markdown } from './markdown.tsx'

const drawn = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }))

describe('markdown on the page', () => {
  it('shows markup of others as text, wherever it stands', () => {
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

  it('opens links elsewhere and tells the other side nothing', () => {
    expect(drawn('[docs](https://a.test/)')).toContain('target="_blank" rel="noopener noreferrer nofollow"')
    expect(drawn('[x](javascript:alert(1)) [y](data:text/html,z)')).not.toContain('<a')
  })

  it('spells out hidden characters in code', () => {
    expect(drawn('`a\u202eb`')).toContain('a\\u{202e}b')
    expect(drawn('```\na\u200bb\n```')).toContain('a\\u{200b}b')
  })

  it('nests lists', () => {
    expect(drawn('- a\n  1. b')).toBe(
      '<ul><li><p dir="auto">a</p><ol start="1"><li><p dir="auto">b</p></li></ol></li></ul>',
    )
  })

  it('does not follow hostile nesting down for ever', () => {
    expect(drawn('> '.repeat(5000)).split('<blockquote>')).toHaveLength(7)
  })
})
