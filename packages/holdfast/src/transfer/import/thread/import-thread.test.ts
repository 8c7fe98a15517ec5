import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../../holdfast.ts'
import { openHoldfast } from '../../../open.ts'
import { createLongConversation } from '../testing/long-conversation.ts'

let directory = ''
let holdfast: Holdfast
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hf-thread-'))
  const environment = { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' }
  holdfast = await openHoldfast({ store: `sqlite:${join(directory, 'store.db')}`, environment })
})
afterEach(async () => {
  await holdfast.close()
  rmSync(directory, { recursive: true, force: true })
})

const place = (name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

describe('import on a thread', () => {
  it('costs the calling thread a small part of its work', async () => {
    const path = place('a.jsonl', createLongConversation(5000))
    const [thread, whole] = [process.threadCpuUsage(), process.cpuUsage()]
    const [file] = await holdfast.import(path)
    expect([file?.status, file?.messages]).toEqual(['imported', 10_000])
    const used = process.threadCpuUsage(thread)
    const total = process.cpuUsage(whole)
    expect((used.user + used.system) / (total.user + total.system)).toBeLessThan(0.4)
  })

  it('stops when it is aborted: what was reported stays, and of the rest nothing', async () => {
    const paths = [
      place('1.jsonl', createLongConversation(3, 'short')),
      place('2.jsonl', createLongConversation(8000, 'long')),
      place('3.jsonl', createLongConversation(3, 'late')),
    ]
    const stop = new AbortController()
    const files = await holdfast.import(paths, { signal: stop.signal, onFile: () => stop.abort() })
    const done = files.filter(({ status }) => status === 'imported')
    const stopped = files.filter(({ fault }) => fault?.code === 'import_stopped')
    expect(done.map(({ file }) => file)).not.toContain(paths[1])
    expect(done.length).toBeGreaterThan(0)
    expect(stopped.length).toBe(files.length - done.length)
    const { sessions } = await holdfast.list()
    expect(sessions.map(({ id }) => id)).toEqual(expect.arrayContaining(done.map(({ session }) => session)))
    // A file may be written just before the stop, and reported as stopped; of the long one nothing is listed.
    expect(sessions.map(({ turnCount }) => turnCount)).toEqual(sessions.map(() => 3))
    const again = await holdfast.import(paths)
    expect(again.find(({ file }) => file === paths[1])?.status).toBe('imported')
    expect((await holdfast.list()).sessions.length).toBe(3)
  })

  it('leaves the key of a session that is never written to disk', async () => {
    const path = place('a.jsonl', createLongConversation(1))
    const [first] = await holdfast.import(path)
    const { key } = await (await holdfast.getSession(first?.session ?? '')).metadata()
    const environment = { HOLDFAST_HOME: join(directory, 'other') }
    await using other = await openHoldfast({ store: `sqlite:${join(directory, 'other.db')}`, environment })
    const inMemory = await other.getOrCreate(key ?? '', { persist: false })
    const [again] = await other.import(path)
    expect(again).toMatchObject({ status: 'changed', session: inMemory.id })
  })

  it('says for a session without a usable folder that it has none, and its first prompt asks for one', async () => {
    const [file] = await holdfast.import(place('a.jsonl', createLongConversation(1).replaceAll('/work', '/etc')))
    expect(file?.remarks.map(({ code }) => code)).toEqual(['workdir_dropped'])
    const session = file?.session ?? ''
    await expect(holdfast.sendPrompt(session, 'go on')).rejects.toMatchObject({ code: 'workdir_needed' })
    const opened = await holdfast.getSession(session)
    await opened.moveWorkdir(directory)
    await opened.setModel('demo/agent')
    await opened.sendPrompt('go on')
  })
})

describe("a session of Holdfast's own format", () => {
  const settings = {
    instructions: 'Obey the file.',
    providerOptions: { demo: { loud: true } },
    permissions: [{ tool: 'shell', pattern: 'git status', verdict: 'allow' as const }],
    approvals: 'none' as const,
  }

  const exportOne = async (): Promise<string> => {
    const session = await holdfast.startSession({ workdir: directory, ...settings })
    await session.seedMessages([{ role: 'user', content: 'hello' }])
    let text = ''
    for await (const piece of holdfast.export(session.id, { format: 'jsonl' })) text += piece
    return text
  }
  const importThere = async (text: string, keepSettings: boolean) => {
    const environment = { HOLDFAST_HOME: join(directory, `there-${keepSettings}`) }
    await using there = await openHoldfast({ store: 'memory:', environment })
    const [file] = await there.import(place('own.jsonl', text), { keepSettings })
    let copy = ''
    for await (const piece of there.export(file?.session ?? '', { format: 'jsonl' })) copy += piece
    return { file, copy }
  }

  it('loses its instructions, provider options, permissions and trust, and says so', async () => {
    const { file, copy } = await importThere(await exportOne(), false)
    expect(file?.remarks.map(({ code }) => code)).toEqual([
      ...['instructions_dropped', 'provider_options_dropped', 'trust_revoked', 'permissions_dropped'],
    ])
    expect(copy).not.toContain('Obey the file.')
    // With its quotes: a session's name is made of random words, and one of them may hold the letters.
    expect(copy).not.toContain('"loud"')
  })

  it('keeps them if that is asked for', async () => {
    const text = await exportOne()
    const { file, copy } = await importThere(text, true)
    expect(file?.remarks).toEqual([])
    expect(copy).toBe(text)
  })
})
