import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const examples = globSync('examples/**/*.{ts,html}', { cwd: root })
/** The reference is generated, and its blocks are types. */
const documents = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/*.md'], {
  cwd: root,
  exclude: ['docs/reference/**'],
})

const dedent = (lines: readonly string[]): string => {
  const indents = lines.filter((line) => line !== '').map((line) => line.search(/\S/))
  return lines.map((line) => line.slice(Math.min(...indents))).join('\n')
}

/** Whether a block is some lines of an example, however far they are indented there. */
function isExcerpt(block: string, example: string): boolean {
  const lines = example.split('\n')
  const length = block.split('\n').length
  return lines.some((_, start) => dedent(lines.slice(start, start + length)) === block)
}

const blocks = documents.flatMap((path) =>
  [...read(path).matchAll(/^```(?:ts|js|typescript|javascript|html)\n(.*?)\n```$/gms)].map(([, block = '']) => ({
    path,
    block,
  })),
)

describe('the code in the documents', () => {
  it('is text of the examples, which are compiled and run', () => {
    const texts = examples.map(read)
    expect(blocks.filter(({ block }) => !texts.some((text) => isExcerpt(block, text)))).toEqual([])
    expect(blocks.length).toBeGreaterThan(15)
  })

  it('is the same in the README and in that of the package', () => {
    const [own] = blocks.filter(({ path }) => path === 'README.md')
    expect(blocks.find(({ path }) => path === 'packages/holdfast/README.md')?.block).toBe(own?.block)
  })

  it('shows every example in the list of examples', () => {
    const programs = globSync(['*.ts', '*/main.ts'], { cwd: join(root, 'examples') })
    expect(programs.filter((program) => !read('examples/README.md').includes(`](${program})`))).toEqual([])
  })

  it('is easy to find: the index and the README link to every document', () => {
    const index = read('docs/README.md')
    const linked = globSync('docs/*.md', { cwd: root }).filter((path) => path !== 'docs/README.md')
    expect(linked.filter((path) => !index.includes(`](${path.replace('docs/', '')})`))).toEqual([])
    const readme = read('README.md')
    expect(linked.filter((path) => !readme.includes(`](${path})`))).toEqual([])
    for (const page of globSync('docs/reference/*.md', { cwd: root }))
      expect(index).toContain(page.replace('docs/', ''))
  })
})
