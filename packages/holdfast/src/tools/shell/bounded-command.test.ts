import { createHash } from 'node:crypto'
import { rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundLater, ToolArgs, ToolContext, ToolRun } from '@holdfast/core/ports'
import { BlobHash, invariant, limits, SessionId } from '@holdfast/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemory } from '../../context/memory/memory.ts'
import { judgeBounded } from '../files/change/run-change.ts'
import { createTools } from '../tools.ts'

const memory = createMemory({ userFile: '/nonexistent/MEMORY.md', now: () => 0 })
const tools = createTools({ environment: process.env, memory, sandbox: 'off' })
const session = SessionId.parse(`ses_0${'3'.repeat(25)}`)
const text = 'one\ntwo\nthree\n'

/** A workdir whose file `f` may be changed only in its second line. */
async function openBounded() {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'f'), text)
  onTestFinished(() => tools.background?.end(session))
  const stored = new Map<string, Uint8Array>()
  const put = async (bytes: Uint8Array) => {
    const hash = BlobHash.parse(createHash('sha256').update(bytes).digest('hex'))
    stored.set(hash, Buffer.from(bytes))
    return { hash, bytes: bytes.length }
  }
  async function* read(hash: string): AsyncGenerator<Uint8Array> {
    yield stored.get(hash) ?? Buffer.alloc(0)
  }
  const open = async (hash: BlobHash) => read(hash)
  const bound = async (content: string, start: number, end: number) => {
    const { hash } = await put(Buffer.from(content))
    return { boundaries: [{ path: 'f', start, end, content: hash }] }
  }
  const context: ToolContext = { workdir, session, openBlob: open, ...(await bound(text, 1, 1)) }
  /** What commands in the background did, and the context in which they are judged. */
  const later = { context, found: [] as FoundLater[] }
  const recordLater: ToolRun['recordLater'] = async (look) =>
    void later.found.push(await look(later.context, { signal: notAborted, blobs: { put, open } }))
  const call = (name: string, args: ToolArgs) => {
    const tool = tools.find(name)
    invariant(tool, `no tool ${name}`)
    return tool.run(args, context, createToolRun({ blobs: { put, open }, recordLater }).run)
  }
  const inBackground = async (command: string) => {
    const started = await call('shell', { command, background: true })
    return /as (\w+)\./.exec(started.output.text)?.[1] ?? ''
  }
  return { workdir, context, bound, call, inBackground, later }
}

describe('a command and a file with an edit boundary', () => {
  it('fails if it changed a file that is too large to be compared, and not if it left it alone', async () => {
    const { workdir, call } = await openBounded()
    await truncate(join(workdir, 'f'), limits.editedFileBytesMax + 1)
    expect(await call('shell', { command: 'true' })).toMatchObject({ type: 'ok' })
    const changed = await call('shell', { command: 'echo x >> f' })
    expect(changed).toMatchObject({ type: 'failed', files: [{ path: 'f', change: 'modified' }] })
    expect(changed.output.text).toContain('[outside_boundary: f changed, and is now too large or cannot be read]')
    const shrunk = await call('shell', { command: 'printf "one\\n" > f' })
    expect(shrunk.output.text).toContain('f changed, and cannot be compared')
  })

  it('may put a missing file back as it was, but not another', async () => {
    const { workdir, call } = await openBounded()
    await rm(join(workdir, 'f'))
    expect(await call('shell', { command: 'echo one > f' })).toMatchObject({ type: 'failed' })
    await rm(join(workdir, 'f'))
    const back = await call('shell', { command: 'printf "one\\n2\\nthree\\n" > f' })
    expect(back).toMatchObject({ type: 'ok', files: [{ path: 'f', change: 'created', before: { type: 'absent' } }] })
  })

  it('is judged at its end if it runs in the background, once', async () => {
    const { call, inBackground, later } = await openBounded()
    const id = await inBackground('sed -i s/one/1/ f')
    const read = () => call('shell_output', { id, wait: 30 })
    let result = await read()
    while (result.output.text.includes('is running]')) result = await read()
    expect(later.found).toMatchObject([{ files: [{ path: 'f', change: 'modified', outside: true }] }])
    expect(later.found[0]?.notice).toContain('-one\n+1\n')
    expect(result.type).toBe('failed')
    expect(result.output.text).toContain('[outside_boundary: edit outside boundary: it touches line 1 of f')
    expect(await read()).toMatchObject({ type: 'ok' })
  })

  it('is judged when it is stopped', async () => {
    const { workdir, call, inBackground } = await openBounded()
    const id = await inBackground('echo four >> f; sleep 1000')
    await expect
      .poll(() => import('node:fs').then((fs) => fs.readFileSync(join(workdir, 'f'), 'utf8')))
      .toContain('four')
    const stopped = await call('shell_stop', { id })
    expect(stopped).toMatchObject({ type: 'failed', output: { text: expect.stringContaining('outside_boundary') } })
  })

  it('is not blamed for what a tool changed meanwhile', async () => {
    const { workdir, context, bound, call, inBackground, later } = await openBounded()
    const id = await inBackground('sleep 1000')
    const edited = 'one\n2\n2b\nthree\n'
    await writeFile(join(workdir, 'f'), edited)
    later.context = { ...context, ...(await bound(edited, 1, 2)) }
    expect(await call('shell_stop', { id })).toMatchObject({ type: 'ok' })
    expect(later.found).toEqual([{ files: [] }])
  })

  it('is compared without holding the event loop', async () => {
    let slices = 0
    let next = setImmediate(function count() {
      slices++
      next = setImmediate(count)
    })
    const line = 'const value = 1\n'
    const before = Buffer.from(line.repeat(200_000))
    const after = Buffer.from(`${line.repeat(100_000)}changed\n${line.repeat(99_999)}`)
    const pair = { path: 'f', range: { start: 0, end: 1 }, counted: before, before, after }
    expect(await judgeBounded(pair, notAborted)).toMatchObject({ violation: expect.stringContaining('+changed') })
    clearImmediate(next)
    expect(slices).toBeGreaterThan(20)
  })
})
