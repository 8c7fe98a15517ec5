import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoundedFile, ToolArgs, ToolContext, ToolResult } from '@holdfast/core/ports'
import { BlobHash, invariant } from '@holdfast/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createToolRun, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemory } from '../../context/memory/memory.ts'
import { createTools } from '../tools.ts'

const memory = createMemory({ userFile: '/nonexistent/MEMORY.md', now: () => 0 })
const tools = createTools({ environment: process.env, memory, sandbox: 'off' })
const bounded = 'd/e.txt'
const lines = Array.from({ length: 10 }, (_, index) => `line ${index}\n`)
const [first, last] = [3, 5]

/** The two ways in which a file can change its identity: it, or its folder, is renamed and a link takes its name. */
const swaps = {
  file: { name: bounded, moved: 'd/f.txt', target: 'f.txt' },
  folder: { name: 'd', moved: 'g', target: 'g' },
} as const
type Swap = keyof typeof swaps

async function openBounded() {
  const { workdir } = await openWorkdir()
  await mkdir(join(workdir, 'd'))
  await writeFile(join(workdir, bounded), lines.join(''))
  const stored = new Map<string, Buffer>()
  const put = async (bytes: Uint8Array) => {
    const hash = BlobHash.parse(createHash('sha256').update(bytes).digest('hex'))
    stored.set(hash, Buffer.from(bytes))
    return { hash, bytes: bytes.length }
  }
  async function* read(hash: string): AsyncGenerator<Uint8Array> {
    yield stored.get(hash) ?? Buffer.alloc(0)
  }
  const blobs = { put, open: async (hash: BlobHash) => read(hash) }
  const { hash } = await put(Buffer.from(lines.join('')))
  let boundary: BoundedFile = { path: bounded, start: first, end: last, content: hash }
  async function call(name: string, args: ToolArgs): Promise<ToolResult> {
    const tool = tools.find(name)
    invariant(tool, `no tool ${name}`)
    const context: ToolContext = { workdir, openBlob: blobs.open, boundaries: [boundary] }
    const result = await tool.run(args, context, createToolRun({ blobs }).run)
    const moved = result.files?.find(({ path }) => path === bounded)?.boundary
    if (moved) boundary = { path: bounded, ...moved }
    return result
  }
  const isLinked = { file: false, folder: false }
  /** Makes a link, or undoes it. */
  async function swap(kind: Swap, by: 'person' | 'shell'): Promise<void> {
    const { name, moved, target } = swaps[kind]
    const isUndo = isLinked[kind]
    isLinked[kind] = !isUndo
    const command = isUndo ? `rm ${name}; mv ${moved} ${name}` : `mv ${name} ${moved}; ln -s ${target} ${name}`
    if (by === 'shell') {
      const { type, output } = await call('shell', { command })
      if (!isUndo) expect([type, output.text]).toEqual(['failed', expect.stringContaining('was replaced')])
      return
    }
    if (isUndo) await rm(join(workdir, name))
    await rename(join(workdir, isUndo ? moved : name), join(workdir, isUndo ? name : moved))
    if (!isUndo) await symlink(target, join(workdir, name))
  }
  const wasReplaced = () => isLinked.file || isLinked.folder
  const exists = (name: string) => existsSync(join(workdir, name))
  return { call, swap, wasReplaced, exists, content: () => readFile(join(workdir, bounded), 'utf8') }
}

const names = [bounded, 'd/f.txt', 'g/e.txt', 'g/f.txt']
const path = fc.constantFrom(bounded, bounded, ...names)
const anyLine = fc.oneof(fc.nat(9), fc.integer({ min: first, max: last }))
const added = fc.constantFrom('', 'x\n', 'x\ny\n', 'line 4\n')

/** A hunk that replaces a line. The lines around it are given as they were at the beginning: they may be stale. */
function hunkOf(line: number, text: string): string {
  const context = (at: number) => (lines[at] === undefined ? '' : ` ${lines[at]}`)
  return `@@\n${context(line - 1)}-${lines[line]}${text.replaceAll(/^(?=.)/gm, '+')}${context(line + 1)}`
}

const step = fc.oneof(
  fc.record({
    type: fc.constant('swap'),
    kind: fc.constantFrom<Swap>('file', 'folder'),
    by: fc.constantFrom('person', 'shell'),
  }),
  fc.record({ type: fc.constant('edit'), path, line: anyLine, added }),
  fc.record({
    type: fc.constant('edits'),
    path,
    lines: fc.array(fc.tuple(anyLine, added), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    type: fc.constant('patch'),
    path,
    hunks: fc.array(fc.tuple(anyLine, added), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ type: fc.constant('write'), path, line: anyLine }),
  fc.record({ type: fc.constant('remove'), path, tool: fc.constantFrom('delete_file', 'move_file') }),
)

/** Every kind of edit changes something at least once, so that the others are worth something. */
const inside: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[] = [
  { type: 'edit', path: bounded, line: 4, added: 'x\n' },
  {
    type: 'edits',
    path: bounded,
    lines: [
      [3, 'x\ny\n'],
      [4, ''],
    ],
  },
  {
    type: 'patch',
    path: bounded,
    hunks: [
      [3, 'x\n'],
      [5, 'x\ny\n'],
    ],
  },
  { type: 'write', path: bounded, line: 5 },
]

describe('a file with an edit boundary that is renamed and reached through links', () => {
  it('keeps every line outside byte for byte, and is not edited while a link leads to it', async () => {
    const changed = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const { call, swap, wasReplaced, exists, content } = await openBounded()
        for (const one of steps) {
          const before = await content()
          if (one.type === 'swap') await swap(one.kind, one.by as 'person' | 'shell')
          else if (!exists(one.path))
            continue // it is about other names of this file, not about new files
          else if (one.type === 'edit')
            await call('edit_file', { path: one.path, old_text: lines[one.line], new_text: one.added })
          else if (one.type === 'edits') {
            const edits = one.lines.map(([line, text]) => ({ old_text: lines[line], new_text: text }))
            await call('multi_edit_file', { path: one.path, edits })
          } else if (one.type === 'patch') {
            const diff = one.hunks.map(([line, text]) => hunkOf(line, text)).join('')
            await call('apply_diff', { path: one.path, diff })
          } else if (one.type === 'write') {
            const text = before.replace(lines[one.line] ?? '', 'written\n')
            await call('write_file', { path: one.path, content: text })
          } else
            await call(one.tool, one.tool === 'move_file' ? { path: one.path, new_path: 'away' } : { path: one.path })
          const after = await content()
          if (after !== before) changed.add(one.type)
          expect(after.startsWith(lines.slice(0, first).join(''))).toBe(true)
          expect(after.endsWith(lines.slice(last + 1).join(''))).toBe(true)
          if (wasReplaced()) expect(after).toBe(before)
        }
      }),
      { numRuns: 60, examples: inside.map((one) => [[one]]) },
    )
    for (const type of ['edit', 'edits', 'patch', 'write']) expect([...changed]).toContain(type)
  })
})
