import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../holdfast.ts'
import { openHoldfast } from '../../open.ts'
import { appendChecksum } from '../../store/jsonl/log/log-line.ts'
import { createLongConversation } from './testing/long-conversation.ts'

describe.each(['sqlite', 'jsonl'] as const)('session imported again (%s)', (kind) => {
  let directory = ''
  let here: Holdfast
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'hf-return-'))
    const environment = { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' }
    here = await openHoldfast({ store: `${kind}:${join(directory, 'store')}`, environment })
  })
  afterEach(async () => {
    await here.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const written = async (name: string): Promise<string> => {
    let text = ''
    for await (const piece of here.export(name, { format: 'jsonl' })) text += piece
    return text
  }
  const take = async (text: string) => {
    const path = join(directory, 'session.jsonl')
    writeFileSync(path, text)
    const [file] = await here.import(path)
    if (!file) throw new Error('nothing was looked at')
    return file
  }
  const taken = async (text: string): Promise<string> => (await take(text)).session ?? ''
  const codes = ({ remarks }: Awaited<ReturnType<typeof take>>) => remarks.map(({ code }) => code)
  const purge = async (name: string) => {
    await here.delete(name)
    await here.emptyTrash()
  }

  it('writes no file that its log claims was there', async () => {
    const workdir = join(directory, 'work')
    mkdirSync(workdir)
    const session = await here.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
    await session.prompt('write hook.txt: planted').text()
    await session.prompt('write hook.txt: planted again').text()
    const text = await written(session.id)
    await purge(session.id)
    rmSync(join(workdir, 'hook.txt'))
    const copy = await here.getSession(await taken(text))
    const { restored, refused } = await copy.restoreFiles({ turn: 0 })
    expect(restored).toEqual([])
    expect(refused.every(({ why }) => why.includes('the session was imported'))).toBe(true)
    expect(existsSync(join(workdir, 'hook.txt'))).toBe(false)
  })

  describe('of a tree', () => {
    const start = async (prompt = 'delegate list') => {
      const workdir = join(directory, 'work')
      mkdirSync(workdir, { recursive: true })
      const session = await here.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
      await session.prompt(prompt).text()
      const [child] = await session.subagents()
      if (!child) throw new Error('there is no subagent')
      return { session, child }
    }
    /** Writes other ids everywhere, and the checksums anew. */
    const renamed = (lines: readonly string[], ids: Readonly<Record<string, string>>, name: string) =>
      lines
        .map((line) => {
          const other = Object.entries(ids).reduce((text, [from, to]) => text.replaceAll(from, to), line)
          return appendChecksum(name, other.slice(0, other.lastIndexOf(',"crc":"')))
        })
        .join('')
    const linesOf = async (id: string) => (await written(id)).trimEnd().split('\n')

    it('is the same as what is stored, root and subagent', async () => {
      const { session, child } = await start()
      expect(await take(await written(session.id))).toMatchObject({ status: 'same' })
      const again = await take(await written(child.id))
      expect([again.status, codes(again)]).toEqual(['same', expect.not.arrayContaining(['subagent_unlinked'])])
      expect(await session.subagents()).toMatchObject([{ id: child.id }])
    })

    it('does not become a subagent of a session that has not started it, nor gets its trust', async () => {
      const { session, child } = await start()
      await session.setToolTrust('write_file', 'session')
      const other = `${child.id.slice(0, -4)}zzzz`
      const file = await take(renamed(await linesOf(child.id), { [child.id]: other }, other))
      expect(file).toMatchObject({ status: 'imported', session: other })
      expect(codes(file)).toContain('subagent_unlinked')
      expect(await session.subagents()).toMatchObject([{ id: child.id }])
      const copy = await here.getSession(other)
      const { parent } = await copy.metadata()
      expect(parent).toBeUndefined()
      for await (const item of copy.prompt('write planted.txt: x')) {
        if (item.type === 'approval') await copy.respondToApproval('reject', item.approval.id)
        expect(item.type === 'end' && item.reason).not.toBe('failed')
      }
      expect(existsSync(join(directory, 'work', 'planted.txt'))).toBe(false)
    })

    it('does not get what another session said as the result of a subagent', async () => {
      const { session, child } = await start('delegate in background list')
      const victim = await here.startSession({ workdir: join(directory, 'work'), model: 'demo/agent' })
      const secret = (await victim.prompt('what can you do?').text()).slice(0, 40)
      const lines = (await linesOf(session.id)).filter((line) => !line.includes('"child.ended"'))
      const upTo = lines.findIndex((line) => line.includes('"call.settled"')) + 1
      const own = `${session.id.slice(0, -4)}zzzz`
      const ids = { [session.id]: own, [child.id]: victim.id }
      const file = await take(renamed(lines.slice(0, upTo), ids, own))
      expect(file.session).toBe(own)
      const copy = await here.getSession(own)
      await copy.rename('loaded')
      for await (const frame of copy.subscribe({ after: 0 }))
        if (frame.type === 'record' && frame.record.event.type === 'prompt.queued') break
      const queued = JSON.stringify(await copy.getQueuedMessages())
      expect(queued).toContain('is not a subagent of this one')
      expect(queued).not.toContain(secret)
    })
  })

  it('is the same while it is unchanged, also if it changed files and may run everything', async () => {
    const workdir = join(directory, 'work')
    mkdirSync(workdir)
    const session = await here.startSession({ workdir, model: 'demo/agent', approvals: 'none' })
    await session.prompt('write notes.txt: one').text()
    await session.prompt('write notes.txt: two').text()
    const own = await written(session.id)
    expect((await take(own)).status).toBe('same')
    expect(await written(session.id)).toBe(own)
  })

  it('is changed once it was continued here, and same again with a new export', async () => {
    const id = await taken(createLongConversation(2))
    const own = await written(id)
    await here.rename(id, 'another title')
    for (const text of [createLongConversation(2), own]) expect((await take(text)).status).toBe('same')
    await here.appendMessage(id, { role: 'user', content: 'more' })
    for (const text of [createLongConversation(2), createLongConversation(1), own])
      expect((await take(text)).status).toBe('changed')
    expect((await take(await written(id))).status).toBe('same')
  })

  it('is changed if its export is damaged, also in what a fork shares with its parent', async () => {
    const id = await taken(createLongConversation(2))
    const own = await written(id)
    const fork = await here.fork(id)
    await fork.seedMessages([{ role: 'user', content: 'and another thing' }])
    const forked = await written(fork.id)
    for (const text of [own, forked]) {
      expect((await take(text)).status).toBe('same')
      for (const damaged of [text.slice(0, -9), text.replace('"r1"', '"rX"'), text.replace(/\n.*"r1".*\n/, '\n')]) {
        const file = await take(damaged)
        expect([file.status, codes(file)]).toEqual(['changed', expect.arrayContaining(['damaged_line'])])
      }
    }
  })

  it('keeps an argument named __proto__', async () => {
    const id = await taken(createLongConversation(1))
    const text = await written(id)
    const lines = text.trimEnd().split('\n')
    const seq = lines.length
    const args = '{"k":1,"__proto__":{"polluted":true,"__proto__":{"polluted":2}}}'
    const events = [
      '{"type":"turn.started","turn":1,"cause":"seed"}',
      '{"type":"user.said","turn":1,"content":[{"type":"text","text":"do it"}]}',
      `{"type":"call.requested","turn":1,"step":${seq + 2},"tool":"shell","args":${args},"provider":"demo"}`,
      `{"type":"call.settled","call":${seq + 2},"outcome":{"type":"interrupted","code":"cancelled"},"durationMs":null}`,
      '{"type":"turn.ended","turn":1,"reason":"done"}',
    ]
    const more = events.map((event, index) => {
      const { type, call } = JSON.parse(event)
      const ref = type === 'call.settled' ? { ref: call } : {}
      const facts = JSON.stringify({ seq: seq + index, at: '2026-01-01T00:00:00.000Z', type, v: 1, ...ref })
      return appendChecksum(id, `${facts.slice(0, -1)},"event":${event}`)
    })
    const whole = text + more.join('')
    await purge(id)
    const file = await take(whole)
    expect([file.status, file.remarks]).toEqual(['imported', []])
    expect(await written(id)).toBe(whole)
    expect((await take(whole)).status).toBe('same')
    expect(await here.exportMarkdown(id)).toContain('do it')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('stays in the trash; the fault says how to restore it', async () => {
    const id = await taken(createLongConversation(2))
    const own = await written(id)
    await here.delete(id)
    for (const text of [createLongConversation(2), own, createLongConversation(3)]) {
      const { status, fault } = await take(text)
      expect([status, fault?.code, fault?.message]).toEqual([
        'failed',
        'session_trashed',
        expect.stringContaining('`holdfast trash restore '),
      ])
    }
    await here.restore(id)
    expect((await take(own)).status).toBe('same')
  })

  it('loses a key that another session has now, and continues from there', async () => {
    const id = await taken(createLongConversation(2))
    const own = await written(id)
    await here.appendMessage(id, { role: 'user', content: 'more' })
    const longer = await written(id)
    await purge(id)
    const fresh = await taken(createLongConversation(2))
    const file = await take(own)
    expect([file.status, file.session, codes(file)]).toEqual(['imported', id, ['key_dropped']])
    expect((await take(own)).status).toBe('same')
    const grown = await take(longer)
    expect([grown.status, grown.fault]).toEqual(['grown', undefined])
    expect((await take(createLongConversation(2))).session).toBe(fresh)
    const { sessions } = await here.list()
    expect(sessions.map((meta) => [meta.id, meta.key]).toSorted()).toEqual(
      [
        [id, undefined],
        [fresh, 'import:claude-code:long'],
      ].toSorted(),
    )
    expect((await here.doctor()).findings.filter(({ severity }) => severity !== 'info')).toEqual([])
  })

  it('is extended as a fork whose parent is gone', async () => {
    const id = await taken(createLongConversation(2))
    const fork = await here.fork(id)
    await fork.seedMessages([{ role: 'user', content: 'and another thing' }])
    const own = await written(fork.id)
    await purge(id)
    const file = await take(own)
    expect([file.status, file.session, file.remarks]).toEqual(['same', fork.id, []])
  })

  it('gets another id, once, while forks share its records', async () => {
    const id = await taken(createLongConversation(2))
    const own = await written(id)
    const shown = await here.exportMarkdown(id)
    const fork = await here.fork(id)
    await fork.seedMessages([{ role: 'user', content: 'and another thing' }])
    await purge(id)
    const file = await take(own)
    expect([file.status, codes(file)]).toEqual(['imported', ['id_changed']])
    expect(file.session).not.toBe(id)
    expect((await here.exportMarkdown(file.session ?? '')).replaceAll(/ses_\w+/g, id)).toBe(shown)
    const again = await take(own)
    expect([again.status, again.session]).toEqual(['same', file.session])
    await here.delete(file.session ?? '')
    expect((await take(own)).fault?.code).toBe('session_trashed')
  })

  it('imports a fork whose parent had to get another id', async () => {
    const id = await taken(createLongConversation(2))
    const kept = await here.fork(id)
    await kept.seedMessages([{ role: 'user', content: 'stays' }])
    const fork = await here.fork(id)
    await fork.seedMessages([{ role: 'user', content: 'and another thing' }])
    const own = await written(fork.id)
    const shown = await here.exportMarkdown(fork.id)
    await purge(fork.id)
    await purge(id)
    const file = await take(own)
    expect([file.status, file.session]).toEqual(['imported', fork.id])
    expect(codes(file)).toContain('id_changed')
    expect(await here.exportMarkdown(fork.id)).toBe(shown)
    expect((await here.doctor()).findings.filter(({ severity }) => severity !== 'info')).toEqual([])
    expect((await take(own)).status).toBe('same')
  })
})
