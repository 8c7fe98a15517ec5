import { describe, expect, it } from 'vitest'
import { parseMarkdown } from './parse-markdown.ts'
import { createPieceSplitter } from './pieces.ts'

const sizes = { atGap: 40, atBlank: 80, atLine: 160 }
const part = (number: number) =>
  `# Part ${number}\n\nSome *words* here.\n\n- one\n\n  more of it\n- two\n\n\`\`\`ts\nlet a = 1\n\n# no heading\n\`\`\`\n\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n`
const document = Array.from({ length: 20 }, (_, index) => part(index)).join('')

describe('the pieces of a long markdown text', () => {
  it('have the same blocks as the whole', () => {
    const pieces = createPieceSplitter(sizes)(document)
    expect(pieces.length).toBeGreaterThan(20)
    expect(pieces.join('')).toBe(document)
    expect(pieces.flatMap((piece) => parseMarkdown(piece))).toEqual(parseMarkdown(document))
  })

  it('stay the same while the text grows, except the last', () => {
    const whole = createPieceSplitter(sizes)(document)
    const split = createPieceSplitter(sizes)
    for (let length = 0; length <= document.length; length += 7) {
      const pieces = split(document.slice(0, length))
      expect(pieces.join('')).toBe(document.slice(0, length))
      expect(pieces.slice(0, -1)).toEqual(whole.slice(0, pieces.length - 1))
    }
    expect(split(`other ${document}`).join('')).toBe(`other ${document}`) // another text
  })

  it('end within a list that is too long, and never within a code block', () => {
    const list = Array.from({ length: 100 }, (_, index) => `${index + 1}. item\n`).join('')
    const lists = createPieceSplitter(sizes)(list).flatMap((piece) => parseMarkdown(piece))
    expect(lists.length).toBeGreaterThan(1)
    expect(lists.flatMap((block) => (block.type === 'list' ? block.items : []))).toHaveLength(100)
    const code = `\`\`\`\`\n${'line\n\n```\n'.repeat(100)}\`\`\`\`\n`
    expect(createPieceSplitter(sizes)(code)).toEqual([code])
  })

  it('share the link definitions, which an open code block does not show', () => {
    const text = `See [here][a].\n\n${document}\n[a]: https://example.com\n\n${document}\`\`\`\nopen\n`
    const [first, ...others] = createPieceSplitter(sizes)(text)
    expect(parseMarkdown(first ?? '')[0]).toMatchObject({
      inner: [{ type: 'text' }, { type: 'link', href: 'https://example.com/' }, { type: 'text' }],
    })
    expect(others.at(-1)).not.toContain('example.com')
  })
})

describe('a text over 100,000 letters', () => {
  const long = Array.from({ length: 1500 }, (_, index) => part(index)).join('')

  it('keeps its formatting, in pieces that are each short to parse', () => {
    expect(long.length).toBeGreaterThan(150_000)
    const pieces = createPieceSplitter()(long)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(41_000)
    const headings = pieces.flatMap(parseMarkdown).filter(({ type }) => type === 'heading')
    expect(headings).toHaveLength(1500)
  })

  it('is parsed if it is one code block', () => {
    const text = 'const a = 1\n'.repeat(20_000)
    expect(parseMarkdown(`Look:\n\n\`\`\`js\n${text}\`\`\`\n\n**Done.**`).map(({ type }) => type)).toEqual([
      ...['paragraph', 'code', 'paragraph'],
    ])
  })
})
