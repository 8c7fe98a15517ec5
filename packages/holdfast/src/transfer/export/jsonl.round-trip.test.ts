import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExportOptions, orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../holdfast.ts'
import { openHoldfast } from '../../open.ts'
import { appendChecksum } from '../../store/jsonl/log/log-line.ts'

describe('JSONL export', () => {
  let directory = ''
  let here: Holdfast
  let there: Holdfast
  const open = () =>
    openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' } })
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'hf-export-'))
    here = await open()
    there = await open()
  })
  afterEach(async () => {
    await here.close()
    await there.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const written = async (holdfast: Holdfast, name: string, redact = false): Promise<string> => {
    let text = ''
    for await (const piece of holdfast.export(name, { format: 'jsonl', redact })) text += piece
    return text
  }
  const take = async (text: string, into = there) => {
    const path = join(directory, 'session.jsonl')
    writeFileSync(path, text)
    const [file] = await into.import(path)
    if (!file) throw new Error('nothing was looked at')
    return file
  }
  const shown = async (id: string) => orThrow(await orThrow(await there.handles.open(id)).snapshot())
  /** Creates a session with an image, long output, thinking and a failed call. */
  const aTalk = async (): Promise<string> => {
    const source = new URL('../../../../../test/golden/import/ggcode-1.3.33-tools.source', import.meta.url)
    const path = join(directory, 'a.jsonl')
    writeFileSync(path, readFileSync(source))
    const [file] = await here.import(path)
    return file?.session ?? ''
  }

  it('leaves out a damaged blob, and the import reports it', async () => {
    const store = `jsonl:${join(directory, 'logs')}`
    const kept = await openHoldfast({ store, environment: { HOLDFAST_HOME: join(directory, 'home'), DEMO_PACE: '0' } })
    const source = new URL('../../../../../test/golden/import/ggcode-1.3.33-tools.source', import.meta.url)
    const path = join(directory, 'a.jsonl')
    writeFileSync(path, readFileSync(source))
    const id = (await kept.import(path))[0]?.session ?? ''
    expect(await written(kept, id)).toContain('"base64"')
    const blobs = join(directory, 'logs', 'blobs')
    for (const { parentPath, name } of readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    ))
      writeFileSync(join(parentPath, name), 'something else')
    const text = await written(kept, id)
    await kept.close()
    expect(text).not.toContain('"base64"')
    expect((await take(text)).remarks).toMatchObject([{ code: 'blob_missing' }])
  })

  it('imports unchanged, with blobs, and exports the same again', async () => {
    const id = await aTalk()
    const text = await written(here, id)
    expect(text).toContain('"base64"')
    const file = await take(text)
    expect([file.status, file.session, file.remarks]).toEqual(['imported', id, []])
    expect(await written(there, id)).toBe(text)
    expect((await there.list()).sessions).toEqual((await here.list()).sessions)
    expect((await take(text)).status).toBe('same')
  })

  it('contains the records that a fork shares', async () => {
    const id = await aTalk()
    const fork = await here.fork(await (await here.fork(id)).id)
    await fork.seedMessages([{ role: 'user', content: 'and another thing' }])
    const text = await written(here, fork.id)
    const file = await take(text)
    expect([file.status, file.session]).toEqual(['imported', fork.id])
    expect(await written(there, fork.id)).toBe(text)
    expect(await there.exportMarkdown(fork.id)).toBe(await here.exportMarkdown(fork.id))
  })

  it('adds the missing records when a longer export is imported', async () => {
    const id = await aTalk()
    const short = await written(here, id)
    await here.appendMessage(id, { role: 'user', content: 'more' })
    const long = await written(here, id)
    await take(short)
    expect((await take(long)).status).toBe('grown')
    expect(await written(there, id)).toBe(long)
    expect((await take(short)).status).toBe('changed')
  })

  it('imports a log file of the JSONL store too', async () => {
    const id = await aTalk()
    const [head = '', ...lines] = (await written(here, id)).split('\n').filter((line) => !line.includes('"base64"'))
    const { session, parent, base } = JSON.parse(head)
    const log = appendChecksum(
      id,
      JSON.stringify({ format: 'holdfast-log', version: 1, session, parent, base, entry: {} }).slice(0, -1),
    )
    const file = await take(log + lines.join('\n'))
    expect([file.status, file.session, file.remarks.map(({ code }) => code)]).toEqual([
      'imported',
      id,
      ['blob_missing'],
    ])
  })

  it('is rejected if a newer Holdfast wrote it', async () => {
    const id = await aTalk()
    const file = await take(
      appendChecksum(
        id,
        JSON.stringify({ format: 'holdfast-export', version: 99, session: id, parent: null, base: 0 }).slice(0, -1),
      ),
    )
    expect([file.status, file.fault?.code]).toEqual(['failed', 'store_too_new'])
  })

  it('is imported up to the first damaged record', async () => {
    const id = await aTalk()
    const lines = (await written(here, id)).split('\n')
    const at = lines.findIndex((line) => line.includes('"text.said"'))
    lines[at] = lines[at]?.replace('I', 'l') ?? ''
    const file = await take(lines.join('\n'))
    expect(file.status).toBe('imported')
    expect(file.remarks.map(({ line, code }) => [line, code])).toContainEqual([at + 1, 'damaged_line'])
    expect((await shown(id)).view.status).toBe('idle')
  })

  it('is imported without standing approvals', async () => {
    const session = await here.startSession({ workdir: directory, approvals: 'none' })
    await session.seedMessages([{ role: 'user', content: 'hi' }])
    await session.setToolTrust('shell', 'session')
    const text = await written(here, session.id)
    const file = await take(text)
    expect(file.remarks.map(({ code }) => code)).toEqual(['trust_revoked'])
    const { view } = await shown(session.id)
    expect(view.trust).toEqual([])
    const again = await written(there, session.id)
    expect(again).toContain('"approvals":"destructive"')
    expect(again).not.toContain('trust.granted')
    // Where the session comes from, it is still the same one.
    const back = await take(again, here)
    expect([back.status, back.remarks]).toEqual(['same', []])
  })

  it('is imported idle: an approved call does not run here', async () => {
    const session = await here.startSession({ workdir: directory })
    await session.seedMessages([{ role: 'user', content: 'hi' }])
    const text = await written(here, session.id)
    const seq = text.trimEnd().split('\n').length
    const hash = '0'.repeat(64)
    const events = [
      { type: 'turn.started', turn: 1, cause: 'prompt' },
      { type: 'user.said', turn: 1, content: [{ type: 'text', text: 'do it' }] },
      { type: 'step.started', turn: 1, model: 'demo/agent', thinkingLevel: 'off', attempt: 1 },
      {
        type: 'call.requested',
        turn: 1,
        step: seq + 2,
        tool: 'shell',
        args: { command: 'touch evil' },
        provider: 'demo',
      },
      { type: 'step.ended', turn: 1, step: seq + 2, finish: 'calls', usage: null },
      { type: 'call.approved', call: seq + 3, argsHash: hash, by: { client: null }, scope: 'once' },
    ]
    const more = events.map((event, index) => {
      const facts = JSON.stringify({ seq: seq + index, at: '2026-01-01T00:00:00.000Z', type: event.type, v: 1 })
      return appendChecksum(session.id, `${facts.slice(0, -1)},"event":${JSON.stringify(event)}`)
    })
    const file = await take(text + more.join(''))
    expect([file.status, file.remarks.map(({ code }) => code)]).toEqual(['imported', ['brought_to_rest']])
    const { view, messages } = await shown(session.id)
    expect([view.status, view.lastTurn?.reason]).toEqual(['idle', 'aborted'])
    expect(messages.flatMap((one) => (one.kind === 'tool_call' ? [one.call.status] : []))).toEqual(['interrupted'])
  })

  it.each(ExportOptions.shape.format.unwrap().options)('contains no secret when redacted (%s)', async (format) => {
    const key = ['sk', '-ant-', 'a1B2c3D4e5F6g7H8i9J0'].join('')
    const session = await here.startSession({ workdir: directory, title: `use ${key}` })
    await session.seedMessages([
      { role: 'user', content: `my key is ${key}, write to mia@mail.example` },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c', tool: 'shell', args: { password: 'open sesame', cwd: '/home/mia' } }],
      },
      { role: 'tool', toolCallId: 'c', content: key },
    ])
    let text = ''
    for await (const piece of here.export(session.id, { format, redact: true })) text += piece
    expect(text).not.toMatch(/a1B2c3D4|mia|sesame/)
    expect(text).toContain('removed]')
  })
})
