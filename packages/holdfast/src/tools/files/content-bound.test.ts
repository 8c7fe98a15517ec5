import { chmod, mkdir, open, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tool } from '@holdfast/core/ports'
import { type Event, orThrow, type PendingApproval } from '@holdfast/protocol'
import { call, isRecord, openTestRuntime, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemoryBlobs } from '../../store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../store/memory/memory-store.ts'
import { editFileTool } from './edit-file.ts'
import { readFileTool } from './read-file.ts'
import { writeFileTool } from './write-file.ts'

describe('a tool that writes a file', () => {
  const tools: readonly [Tool, { readonly [name: string]: string }][] = [
    [writeFileTool, { path: 'f', content: 'new\n' }],
    [editFileTool, { path: 'f', old_text: 'old', new_text: 'new' }],
  ]
  const cases = tools.flatMap(([tool, args]) => [[tool.schema.name, tool, args] as const])

  /** Prepares a call, lets the file change, and runs the call as it was prepared. */
  async function runAfter(tool: Tool, args: { readonly [name: string]: string }, change: (workdir: string) => unknown) {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'old\n')
    const prepared = await tool.prepare(args, { workdir }, notAborted)
    const contentHash = prepared.type === 'ready' ? prepared.contentHash : undefined
    expect(contentHash).toBeDefined()
    const begin = async () => void (await change(workdir)) // as late as a test can be
    const result = await tool.run(args, { workdir }, createToolRun({ contentHash, begin }).run)
    return { workdir, result }
  }

  it.each(cases)('%s leaves a file alone that changed meanwhile', async (_, tool, args) => {
    const { workdir, result } = await runAfter(tool, args, (dir) => writeFile(join(dir, 'f'), 'old, and mine\n'))
    expect(result).toMatchObject({
      type: 'failed',
      output: { text: expect.stringMatching(/^content_changed: f changed/) },
    })
    expect(await readFile(join(workdir, 'f'), 'utf8')).toBe('old, and mine\n')
    expect(await readdir(workdir)).toEqual(['f'])
  })

  it.each(cases)('%s does not bring back a file that was removed', async (_, tool, args) => {
    const { workdir, result } = await runAfter(tool, args, (dir) => rm(join(dir, 'f')))
    expect(result).toMatchObject({ type: 'failed' })
    expect(await readdir(workdir)).toEqual([])
  })

  it.each(cases)('%s does not follow a link to another file with the same content', async (_, tool, args) => {
    const { workdir, result } = await runAfter(tool, args, async (dir) => {
      await writeFile(join(dir, 'other'), 'old\n')
      await rm(join(dir, 'f'))
      await symlink('other', join(dir, 'f'))
    })
    expect(result).toMatchObject({ type: 'failed' })
    expect(await readFile(join(workdir, 'other'), 'utf8')).toBe('old\n')
  })

  it.each(cases)('%s ignores a change of the mode only', async (_, tool, args) => {
    const { workdir, result } = await runAfter(tool, args, (dir) => chmod(join(dir, 'f'), 0o640))
    expect(result).toMatchObject({ type: 'ok' })
    expect(await readFile(join(workdir, 'f'), 'utf8')).toBe('new\n')
  })

  it('does not overwrite a file that was created meanwhile', async () => {
    const { workdir } = await openWorkdir()
    const args = { path: 'd/f', content: 'new\n' }
    const prepared = await writeFileTool.prepare(args, { workdir }, notAborted)
    const contentHash = prepared.type === 'ready' ? prepared.contentHash : undefined
    const begin = async () => {
      await mkdir(join(workdir, 'd'))
      await writeFile(join(workdir, 'd', 'f'), 'mine\n')
    }
    expect(await writeFileTool.run(args, { workdir }, createToolRun({ contentHash, begin }).run)).toMatchObject({
      type: 'failed',
    })
    expect(await readFile(join(workdir, 'd', 'f'), 'utf8')).toBe('mine\n')
    expect(await readdir(join(workdir, 'd'))).toEqual(['f'])
  })

  const [long, past] = [Buffer.alloc(17 * 1024 * 1024, 'a'), new Date('2020-01-01T00:00:00Z')]
  const longChanges: readonly (readonly [string, (file: string) => Promise<void>])[] = [
    ['changed meanwhile', (file) => writeFile(file, Buffer.concat([long, long]))],
    [
      'changed meanwhile and has its old length and time',
      async (file) => {
        await using handle = await open(file, 'r+')
        await handle.write('mine')
        await utimes(file, past, past)
      },
    ],
  ]

  it.each(longChanges)('leaves a file alone that is too long to compare and %s', async (_, change) => {
    const { workdir } = await openWorkdir()
    const file = join(workdir, 'f')
    await writeFile(file, long)
    await utimes(file, past, past)
    const args = { path: 'f', content: 'new\n' }
    const prepared = await writeFileTool.prepare(args, { workdir }, notAborted)
    const contentHash = prepared.type === 'ready' ? prepared.contentHash : undefined
    const begin = () => change(file)
    expect(await writeFileTool.run(args, { workdir }, createToolRun({ contentHash, begin }).run)).toMatchObject({
      type: 'failed',
    })
    expect((await readFile(file)).length).toBeGreaterThanOrEqual(long.length)
  })
})

/** A session in its own folder, with the file `f`, whose model asks for these calls in one round. */
async function openSession(
  approvals: 'destructive' | 'none',
  calls: readonly ReturnType<typeof call>[],
  content = 'one\ntwo\nthree\n',
) {
  const { workdir } = await openWorkdir()
  const file = join(workdir, 'f')
  await writeFile(file, content)
  const runtime = await openTestRuntime({
    store: createMemoryStore(),
    blobs: createMemoryBlobs(),
    script: [[call('read_file', { path: 'f' })], calls, [say('Done.')]],
    tools: [readFileTool, writeFileTool, editFileTool],
    start: { workdir, approvals },
  })
  await runtime.send('go', { type: 'sendPrompt', content: 'go' })

  /** Returns the open questions once there are so many, after so many were put in all. */
  async function questions(open: number, putInAll: number): Promise<readonly PendingApproval[]> {
    let put = 0
    for await (const frame of runtime.handle.subscribe({ after: 0 })) {
      if (frame.type === 'record' && frame.record.event.type === 'approval.asked') put++
      if (put < putInAll) continue
      const { pendingApprovals } = orThrow(await runtime.handle.snapshot()).view
      if (pendingApprovals.length === open) return pendingApprovals.toSorted((one, other) => one.call - other.call)
    }
    throw new Error('the stream ended first')
  }
  let answers = 0
  const answer = (approval: number | undefined, decision: 'approve' | 'approve_turn' = 'approve') =>
    runtime.send(`answer-${++answers}`, {
      type: 'respondToApproval',
      decision,
      ...(approval !== undefined && { approval }),
    })
  const outcomes = async (): Promise<readonly string[]> => {
    await runtime.frame(isRecord('turn.ended'))
    const records = await runtime.store.read(runtime.handle.id, { after: 0, limit: 1000 })
    const events = records.flatMap((record) => ('lost' in record ? [] : [record.event as Event]))
    return events.flatMap((event) => (event.type === 'call.settled' ? [event.outcome.type] : [])).slice(1)
  }
  return { file, questions, answer, outcomes }
}

const edit = (oldText: string, newText: string) =>
  call('edit_file', { path: 'f', old_text: oldText, new_text: newText })
const write = (content: string) => call('write_file', { path: 'f', content })

describe('a session', () => {
  it('asks again with the new diff if a file changed while its question waited', async () => {
    const { file, questions, answer, outcomes } = await openSession('destructive', [edit('two', '2')])
    const [first] = await questions(1, 1)
    expect(first).not.toHaveProperty('changed')
    await writeFile(file, 'mine\ntwo\n')
    await answer(first?.id)
    const [second] = await questions(1, 2)
    expect(second).toMatchObject({
      call: first?.call,
      changed: true,
      preview: { diff: expect.stringContaining(' mine\n-two\n+2\n') },
    })
    expect(await readFile(file, 'utf8')).toBe('mine\ntwo\n')
    expect(await answer(first?.id)).toMatchObject({ ok: false, fault: { code: 'already_decided' } })
    await answer(second?.id)
    expect(await outcomes()).toEqual(['ok'])
    expect(await readFile(file, 'utf8')).toBe('mine\n2\n')
  })

  it('asks again about a file to replace that changed while its question waited', async () => {
    const { file, questions, answer, outcomes } = await openSession('destructive', [write('new\n')])
    const [first] = await questions(1, 1)
    await writeFile(file, 'mine\n')
    await answer(first?.id)
    const [second] = await questions(1, 2)
    expect(second).toMatchObject({ changed: true, preview: { diff: expect.stringContaining('-mine\n+new\n') } })
    expect(await readFile(file, 'utf8')).toBe('mine\n')
    await answer(second?.id)
    expect(await outcomes()).toEqual(['ok'])
    expect(await readFile(file, 'utf8')).toBe('new\n')
  })

  it('asks again for the second of two edits if the first changed its diff', async () => {
    const { file, questions, answer, outcomes } = await openSession('destructive', [
      edit('one', '1\n1'),
      edit('three', '3'),
    ])
    const [first, second] = await questions(2, 2)
    await Promise.all([answer(first?.id), answer(second?.id)])
    const [again] = await questions(1, 3)
    expect(again).toMatchObject({
      changed: true,
      preview: { diff: expect.stringContaining(' 1\n 1\n two\n-three\n+3\n') },
    })
    await answer(again?.id)
    expect(await outcomes()).toEqual(['ok', 'ok'])
    expect(await readFile(file, 'utf8')).toBe('1\n1\ntwo\n3\n')
  })

  it('does not ask again for the second of two edits if the first only moved its lines', async () => {
    const middle = 'same\n'.repeat(20)
    const calls = [edit('one', '1\n1'), edit('three', '3')]
    const { file, questions, answer, outcomes } = await openSession('destructive', calls, `one\n${middle}three\n`)
    const [first, second] = await questions(2, 2)
    await Promise.all([answer(first?.id), answer(second?.id)])
    expect(await outcomes()).toEqual(['ok', 'ok'])
    expect(await readFile(file, 'utf8')).toBe(`1\n1\n${middle}3\n`)
  })

  it('loses no edit of a round that runs without asking', async () => {
    const { file, outcomes } = await openSession('none', [edit('one', '1'), edit('two', '2'), edit('three', '3')])
    expect(await outcomes()).toEqual(['ok', 'ok', 'ok'])
    expect(await readFile(file, 'utf8')).toBe('1\n2\n3\n')
  })

  it('does not ask again for what is trusted for the turn', async () => {
    const { file, questions, answer, outcomes } = await openSession('destructive', [edit('one', '1'), edit('two', '2')])
    const [first] = await questions(2, 2)
    await answer(first?.id, 'approve_turn')
    expect(await outcomes()).toEqual(['ok', 'ok'])
    expect(await readFile(file, 'utf8')).toBe('1\n2\nthree\n')
  })

  it('fails a trusted call instead of overwriting what somebody else wrote', async () => {
    const { file, questions, answer, outcomes } = await openSession('destructive', [write('two\n')])
    const [first] = await questions(1, 1)
    await writeFile(file, 'mine\n')
    await answer(first?.id, 'approve_turn')
    expect(await outcomes()).toEqual(['failed'])
    expect(await readFile(file, 'utf8')).toBe('mine\n')
  })

  it.each([
    ['not read', [], 'not_seen: f exists and was not read'],
    ['read in part', [call('read_file', { path: 'f', limit: 1 })], 'not_seen: only a part of f was read'],
  ])('does not let a file be replaced that was %s', async (_, reads, words) => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'one\ntwo\n')
    const runtime = await openTestRuntime({
      store: createMemoryStore(),
      blobs: createMemoryBlobs(),
      script: [...(reads.length > 0 ? [reads] : []), [write('x\n')], [say('Done.')]],
      tools: [readFileTool, writeFileTool],
      start: { workdir, approvals: 'none' },
    })
    await runtime.send('go', { type: 'sendPrompt', content: 'go' })
    await runtime.frame(isRecord('turn.ended'))
    const records = await runtime.store.read(runtime.handle.id, { after: 0, limit: 1000 })
    const settled = records.flatMap((record) => ('lost' in record ? [] : [record.event as Event]))
    const last = settled.findLast((event) => event.type === 'call.settled')
    expect(last).toMatchObject({ outcome: { type: 'failed', output: { text: expect.stringContaining(words) } } })
    expect(await readFile(join(workdir, 'f'), 'utf8')).toBe('one\ntwo\n')
  })

  it('replaces a file that was read in pages, and knows it from then on', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'one\ntwo\n')
    const pages = [call('read_file', { path: 'f', offset: 2 }), call('read_file', { path: 'f', limit: 1 })]
    const runtime = await openTestRuntime({
      store: createMemoryStore(),
      blobs: createMemoryBlobs(),
      script: [pages, [write('x\n')], [edit('x', 'y')], [write('z\n')], [say('Done.')]],
      tools: [readFileTool, writeFileTool, editFileTool],
      start: { workdir, approvals: 'none' },
    })
    await runtime.send('go', { type: 'sendPrompt', content: 'go' })
    await runtime.frame(isRecord('turn.ended'))
    expect(await readFile(join(workdir, 'f'), 'utf8')).toBe('z\n')
  })
})
