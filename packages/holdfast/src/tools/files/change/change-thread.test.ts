import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { createChangeThread } from './change-thread.ts'
import { diffEdit, editedContent } from './file-change.ts'

const scriptOf = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`)
/** A worker that never answers, however long it runs. */
const endless = scriptOf(
  "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { for (;;); })",
)
const job = {
  type: 'preview',
  edit: { type: 'write', workdir: '/', path: 'f', content: '' },
  keys: [],
} as const

describe('the thread for changes', () => {
  it('answers as the same work on this thread does', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), 'one\ntwo\n')
    const edit = { type: 'replace', workdir, path: 'f', edits: [{ oldText: 'two', newText: '2' }] } as const
    const thread = createChangeThread()
    expect(await thread.run({ type: 'preview', edit, keys: [] }, notAborted)).toEqual(await diffEdit(edit))
    const [there, here] = [await thread.run({ type: 'content', edit, keys: [] }, notAborted), await editedContent(edit)]
    if (!there.ok || !here.ok) throw new Error('both succeed')
    const before = here.value.before && { ...here.value.before, bytes: new Uint8Array(here.value.before.bytes) }
    const parts = here.value.parts.map((part) => new Uint8Array(part))
    expect(there.value).toEqual({ ...here.value, before, parts })
    expect(Buffer.from(before?.bytes ?? []).toString()).toBe('one\ntwo\n')
    const gone = { ...edit, workdir: join(workdir, 'gone') }
    expect(await thread.run({ type: 'preview', edit: gone, keys: [] }, notAborted)).toMatchObject({ ok: false })
  })

  it('masks the keys of the process', async () => {
    const { workdir } = await openWorkdir()
    const key = 'sk-0123456789-thread'
    const edit = { type: 'write', workdir, path: 'f', content: `KEY=${key}\n` } as const
    expect(await createChangeThread().run({ type: 'preview', edit, keys: [key] }, notAborted)).toMatchObject({
      value: { preview: { diff: expect.stringContaining('\n+KEY=[key removed]\n') } },
    })
  })

  it('is ended by an abort while it computes, and so are the jobs that wait', async () => {
    const thread = createChangeThread({ script: endless })
    const aborting = new AbortController()
    const runs = [1, 2, 3].map(() => thread.run(job, aborting.signal))
    setImmediate(() => aborting.abort())
    for (const run of runs) expect(await run).toMatchObject({ ok: false, fault: { message: 'aborted' } })
  })

  it('ends a job at its time limit with a fault, and runs the next', async () => {
    const thread = createChangeThread({ script: endless, timeMsMax: 1 })
    for (const run of [thread.run(job, notAborted), thread.run(job, notAborted)])
      expect(await run).toMatchObject({ ok: false, fault: { code: 'too_large' } })
  })

  it('ends a job that needs more memory than the thread has with a fault, and runs the next', async () => {
    const greedy = scriptOf(
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { const all = []; for (;;) all.push([1]) })",
    )
    const thread = createChangeThread({ script: greedy, heapMb: 16 })
    for (const run of [thread.run(job, notAborted), thread.run(job, notAborted)])
      expect(await run).toMatchObject({ ok: false, fault: { code: 'too_large' } })
  })

  it('reports a thread that broke, and starts another', async () => {
    const thread = createChangeThread({ script: scriptOf("throw new Error('broken')") })
    for (const _ of [1, 2]) await expect(thread.run(job, notAborted)).rejects.toThrow('broken')
  })
})
