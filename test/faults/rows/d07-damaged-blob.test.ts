import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Session } from '@holdfast/client'
import { type BlobHash, orThrow } from '@holdfast/protocol'
import { type Holdfast, openHoldfast } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { createSecret, hashToken, openServer } from '../../../packages/holdfast/src/server/index.ts'
import { useScratch } from '../scratch.ts'

const scratch = useScratch({ inMemory: true })

/** One chunk of a stream, or several. */
const files = { short: 'one chunk', long: 'several chunks '.repeat(20_000) }

function blobFile(directory: string, hash: BlobHash): string {
  return join(directory, 'blobs', hash.slice(0, 2), hash.slice(2))
}

/** Flips the last bit. */
function damage(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  writeFileSync(path, bytes)
}

async function ask(session: Session, content: Parameters<Session['sendPrompt']>[0]): Promise<void> {
  for await (const frame of session.subscribe()) {
    if (frame.type === 'snapshot') await session.sendPrompt(content)
    if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
  }
}

async function openBoth(store: string, home: string) {
  const holdfast: Holdfast = await openHoldfast({ store, environment: { HOLDFAST_HOME: home, DEMO_PACE: '0' } })
  const token = createSecret()
  const server = orThrow(
    await openServer({
      sessions: holdfast.handles,
      host: '127.0.0.1',
      port: 0,
      pageDir: null,
      version: '0',
      now: Date.now,
      tokens: [{ hash: hashToken(token), role: 'admin' }],
      onProblem: () => undefined,
    }),
  )
  const get = (session: string, hash: BlobHash) =>
    fetch(`${server.url}/v1/sessions/${session}/blobs/${hash}`, { headers: { authorization: `Bearer ${token}` } })
  return {
    holdfast,
    get,
    async close() {
      await server.close()
      await holdfast.close()
    },
  }
}

describe.each(['sqlite', 'jsonl'] as const)('D7 %s: damaged blobs of a session', (kind) => {
  it('are refused or abort before their end, and the session continues', async () => {
    const home = scratch.directory()
    const directory = join(home, 'data')
    const store = kind === 'jsonl' ? `jsonl:${directory}` : `sqlite:${join(directory, 'holdfast.db')}`
    const first = await openBoth(store, home)
    const session = await first.holdfast.startSession({ workdir: scratch.home, model: 'demo/agent' })
    const stored = await Promise.all(
      Object.values(files).map((text) => first.holdfast.storeFile(Buffer.from(text), { name: 'a.txt' })),
    )
    const [short, long] = stored.map(({ file }) => file.blob) as [BlobHash, BlobHash]
    await ask(session, [{ type: 'text', text: 'hello' }, ...stored.map(({ file }) => file)])
    for (const [hash, text] of [
      [short, files.short],
      [long, files.long],
    ] as const)
      expect(await (await first.get(session.id, hash)).text()).toBe(text)
    const context = await contextOf(first.holdfast, session.id)
    await first.close()

    const bad = [short, long, context]
    for (const hash of bad) damage(blobFile(directory, hash))
    const second = await openBoth(store, home)
    for (const hash of [short, context]) {
      const refused = await second.get(session.id, hash)
      const { error } = (await refused.json()) as { readonly error: unknown }
      expect([refused.status, error]).toMatchObject([503, { code: 'storage_error', details: { blob: hash } }])
    }
    const broken = await second.get(session.id, long)
    await expect(broken.text()).rejects.toThrow()

    const again = await second.holdfast.getSession(session.id)
    const before = await again.messages()
    expect(before.length).toBeGreaterThan(1)
    await ask(again, 'and now?')
    expect((await again.messages()).length).toBeGreaterThan(before.length)
    // The content for the model was stored again, so it is intact.
    expect((await second.get(session.id, context)).status).toBe(200)
    await second.close()
  })
})

async function contextOf(holdfast: Holdfast, id: string): Promise<BlobHash> {
  const handle = orThrow(await holdfast.handles.open(id))
  for await (const frame of handle.subscribe({ after: 0 }))
    if (frame.type === 'record' && frame.record.event.type === 'context.changed') return frame.record.event.system
  throw new Error('the model received no request')
}
