import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConversations } from './open-conversations.ts'

const fixture = fileURLToPath(new URL('./killed-conversations.fixture.ts', import.meta.url))

describe('a saved conversation', () => {
  let home = ''
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-killed-'))
  })
  afterEach(async () => {
    await rm(home, { recursive: true, force: true })
  })

  it.each(['sqlite', 'jsonl'])('is complete and in order after kill -9 (%s)', async (kind) => {
    const store = `${kind}:${join(home, kind === 'jsonl' ? 'logs' : 'a.db')}`
    const child = spawn(process.execPath, [fixture, store, home], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    let saved = -1
    let lines = 0
    for await (const line of createInterface({ input: child.stdout })) {
      saved = Number(line.split(' ')[1])
      if (++lines === 25) child.kill('SIGKILL')
    }
    await ended
    expect(saved).toBeGreaterThan(70)
    const conversations = await openConversations({ store, environment: { HOLDFAST_HOME: home }, workdir: home })
    const texts = (await conversations.getHistory('one')).map(({ content }) => content)
    expect(texts.length).toBeGreaterThan(saved)
    expect(texts).toEqual(texts.map((_, index) => `message ${index}`))
    expect(await conversations.getSummary('one')).toMatch(/^summary \d+$/)
    conversations.addMessage('one', 'user', 'and on')
    await conversations.save('one')
    expect((await conversations.getHistory('one')).at(-1)).toEqual({ role: 'user', content: 'and on' })
    await conversations.close()
  })
})
