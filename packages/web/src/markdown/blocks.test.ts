import { describe, expect, it } from 'vitest'
import { type Block, parseBlocks } from './blocks.ts'

const bare = (text: string) => parseBlocks(text).map(({ source, ...block }: Block) => block)

describe('blocks of markdown', () => {
  it('separates paragraphs by blank lines and keeps single line ends', () => {
    expect(bare('one\ntwo\n\n\nthree')).toEqual([
      { type: 'paragraph', text: 'one\ntwo' },
      { type: 'paragraph', text: 'three' },
    ])
  })

  it('reads headings, but not a hash without a space', () => {
    expect(bare('## Two ##\n#no')).toEqual([
      { type: 'heading', level: 2, text: 'Two' },
      { type: 'paragraph', text: '#no' },
    ])
  })

  it('keeps a fence verbatim, whatever it holds', () => {
    expect(bare('```ts\n# not a heading\n\n- not a list\n```\nafter')).toEqual([
      { type: 'code', language: 'ts', text: '# not a heading\n\n- not a list' },
      { type: 'paragraph', text: 'after' },
    ])
  })

  it('lets a longer fence hold a shorter one', () => {
    expect(bare('````\n```\n````')).toEqual([{ type: 'code', language: '', text: '```' }])
  })

  it('shows a fence that is still streaming as code', () => {
    expect(bare('```sh\nls')).toEqual([{ type: 'code', language: 'sh', text: 'ls' }])
  })

  it('gathers list items with what is indented below them', () => {
    expect(bare('- a\n  - b\n- c\n\n  more c\n\nend')).toEqual([
      { type: 'list', ordered: false, start: 1, items: ['a\n- b', 'c\n\nmore c'] },
      { type: 'paragraph', text: 'end' },
    ])
  })

  it('starts an ordered list at its own number', () => {
    expect(bare('3. c\n4. d')).toEqual([{ type: 'list', ordered: true, start: 3, items: ['c', 'd'] }])
  })

  it('keeps an ordered and an unordered list apart', () => {
    expect(bare('- a\n1. b').map((block) => block.type)).toEqual(['list', 'list'])
  })

  it('reads quotes, rules and tables', () => {
    expect(bare('> a\n> b\n\n---\n\n| x | y |\n|---|:-:|\n| 1 | a\\|b |')).toEqual([
      { type: 'quote', text: 'a\nb' },
      { type: 'rule' },
      { type: 'table', head: ['x', 'y'], rows: [['1', 'a|b']] },
    ])
  })

  it('begins a list right after a paragraph, but takes a year at the start of a line for text', () => {
    expect(bare('Steps:\n- one').map((block) => block.type)).toEqual(['paragraph', 'list'])
    expect(bare('It was in\n1984. Then').map((block) => block.type)).toEqual(['paragraph'])
  })

  it('stays quick on hostile text', () => {
    const started = performance.now()
    for (const line of ['- ', '> ', '`', '|', '# ', '1. x\n', '- x\n\n']) parseBlocks(line.repeat(20_000))
    expect(performance.now() - started).toBeLessThan(2000)
  })
})
