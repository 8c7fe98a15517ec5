import { describe, expect, it } from 'vitest'
import { readMarkdownFile } from './front-matter.ts'

const fileOf = (frontMatter: string, body = 'Body.\n'): string => `---\n${frontMatter}\n---\n${body}`
const textOf = (frontMatter: string, name: string) => readMarkdownFile(fileOf(frontMatter)).fields.text(name)

describe('front matter', () => {
  it('is split from the body', () => {
    const { fields, body, problems } = readMarkdownFile(fileOf('name: pdf\ndescription: Reads PDF files.'))
    expect([fields.text('name'), fields.text('description'), body, problems]).toEqual([
      ...['pdf', 'Reads PDF files.', 'Body.\n', []],
    ])
  })

  it('is optional', () => {
    expect(readMarkdownFile('# Title\n').body).toBe('# Title\n')
    expect(readMarkdownFile('---\n---\nBody').body).toBe('Body')
  })

  it('may follow a byte-order mark and have the line ends of Windows', () => {
    const { fields, body } = readMarkdownFile('\ufeff---\r\nname: a\r\n---\r\nBody\r\n')
    expect([fields.text('name'), body]).toEqual(['a', 'Body\n'])
  })

  it.each([
    ['description: Use when: pdf', 'description', 'Use when: pdf'],
    ['argument-hint: [a] [b]', 'argument-hint', '[a] [b]'],
    ['tools: *', 'tools', '*'],
    ['description: @team only', 'description', '@team only'],
    ['description: `code` first', 'description', '`code` first'],
    ['description: %x', 'description', '%x'],
  ])('reads %s although it lacks quotes, and says so', (line, name, expected) => {
    const { fields, problems } = readMarkdownFile(fileOf(`name: a\n${line}`))
    expect([fields.text('name'), fields.text(name)]).toEqual(['a', expected])
    expect(problems).toEqual([{ line: 3, message: 'Its value needs quotes in YAML; it was read as text.' }])
  })

  it('keeps numbers and words as they are written', () => {
    expect(textOf('name: 007', 'name')).toBe('007')
    expect(textOf('name: yes', 'name')).toBe('yes')
  })

  it('reads yes and no in the words that people use', () => {
    const { fields } = readMarkdownFile(fileOf('a: on\nb: 0\nc: True\nd: maybe'))
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => fields.flag(name))).toEqual([true, false, true, null, null])
  })

  it('reads lists of YAML, with commas and with spaces', () => {
    const { fields } = readMarkdownFile(fileOf('a: [x, y]\nb: x, Bash(git add, git commit)\nc: x y\nd:\n  - x'))
    expect(fields.list('a')).toEqual(['x', 'y'])
    expect(fields.list('b')).toEqual(['x', 'Bash(git add, git commit)'])
    expect(fields.list('c', { spaces: true })).toEqual(['x', 'y'])
    expect(fields.list('d')).toEqual(['x'])
    expect(fields.list('e')).toBeNull()
  })

  it('returns the source of a value that YAML reads as something else', () => {
    expect(readMarkdownFile(fileOf('argument-hint: [topic: x]')).fields.source('argument-hint')).toBe('[topic: x]')
  })

  it.each([
    ['---js\nmodule.exports = process.exit(1)\n---\nBody', /not ---js/],
    ['---\nname: a\nBody', /no closing line/],
    [fileOf('- a\n- b'), /not a list of fields/],
    [fileOf(`a: ${'['.repeat(5000)}`), /more than 200 opening brackets/],
    [fileOf(`a: ${'x'.repeat(20_000)}`), /more than 16384 characters/],
    [fileOf('a:\n  - x\n b: 1'), /not YAML/],
  ])('that cannot be read has no fields and one problem: %#', (text, problem) => {
    const { fields, problems } = readMarkdownFile(text)
    expect(fields.has('name')).toBe(false)
    expect(problems).toHaveLength(1)
    expect(problems[0]?.message).toMatch(problem)
  })

  it('does not expand aliases', () => {
    const levels = Array.from({ length: 20 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`)
    const { fields } = readMarkdownFile(fileOf(`a0: &a0 [x, x]\n${levels.join('\n')}`))
    expect(fields.list('a0')).toEqual(['x', 'x'])
    expect(fields.list('a20')).toEqual([])
  })
})
