import { LLMock } from '@copilotkit/aimock'
import { startStrictProxy } from '@holdfast/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { type ChaosHouse, openChaosHouse } from './chaos-house.ts'
import { cut, retries, said } from './heard.ts'
import { cases } from './services.ts'
import { rested } from './watch.ts'

type Chaos = Parameters<LLMock['setChaos']>[0]

const words = 'Words that may not come to their end, one way or another. '.repeat(4)

/** What aimock is told to say: the first answer calls, the next ones only speak. */
const spoken = [
  { content: '', toolCalls: [{ name: 'count', arguments: '{}' }] },
  { content: words },
  { content: 'Done.' },
]

describe.each(cases)('$service, as aimock has it', ({ model }) => {
  let opened = new AsyncDisposableStack()
  afterEach(async () => {
    await opened.disposeAsync()
    opened = new AsyncDisposableStack()
  })

  async function begin(options: { readonly truncateAfterChunks?: number; readonly disconnectAfterMs?: number } = {}) {
    const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 8 })
    let given = 0
    const next = () => spoken[Math.min(given++, spoken.length - 1)] ?? { content: '' }
    mock.on({ predicate: () => given === 1 }, next, { latency: 3, ...options })
    mock.on({ predicate: () => true }, next)
    await mock.start()
    opened.defer(() => mock.stop())
    const front = opened.use(await startStrictProxy(() => mock.url))
    const house = opened.use(await openChaosHouse(front.url, model))
    return { mock, front, ...house }
  }

  type Begun = Awaited<ReturnType<typeof begin>>

  /** Counts in peace, then asks what to do about it while the service is in chaos. */
  async function live(chaos: Chaos): Promise<Begun & { readonly end: string }> {
    const begun = await begin()
    const { mock, session } = begun
    await session.sendPrompt('Count.')
    expect(await rested(session)).toBe('done')
    mock.setChaos(chaos)
    await session.sendPrompt('And now?')
    return { ...begun, end: await rested(session) }
  }

  async function isSound({ ran, complaints, front, problems }: ChaosHouse & Pick<Begun, 'front'>): Promise<void> {
    expect(ran()).toBe(1)
    expect(await complaints()).toEqual([])
    expect(front.requests.flatMap(({ complaint }) => complaint ?? [])).toEqual([])
    expect(problems).toEqual([])
  }

  it.each([
    ['dropped', { dropRate: 1 }, 3],
    ['rate-limited', { rateLimitRate: 1 }, 3],
    ['disconnected', { disconnectRate: 1 }, 3],
    // A page that is no stream is what a wrong address gives: it would be the same again.
    ['malformed', { malformedRate: 1 }, 0],
  ])('that is %s is asked again as often as that can help, and can then be gone on with', async (_, chaos, again) => {
    const lived = await live(chaos)
    const { mock, session, records, front } = lived
    expect([lived.end, front.requests.length, retries(await records()).length]).toEqual(['failed', 3 + again, again])
    mock.clearChaos()
    await session.continue()
    expect(await rested(session)).toBe('done')
    await isSound(lived)
  })

  it('is waited for when it is slow', async () => {
    const lived = await live({ latencyMs: 200 }) // 20 seconds by the session's clock
    expect([lived.end, retries(await lived.records())]).toEqual(['done', []])
    await isSound(lived)
  })

  it('keeps what it said until it was cut', async () => {
    const begun = await begin({ truncateAfterChunks: 12 })
    const { session, records } = begun
    await session.sendPrompt('Count.')
    expect(await rested(session)).toBe('failed')
    const kept = cut(await records())
    expect(kept.map((text) => text !== '' && words.startsWith(text))).toEqual([true])
    await session.continue()
    expect(await rested(session)).toBe('done')
    await isSound(begun)
  })

  it('is asked again, or gone on with, whenever it goes away', async () => {
    const begun = await begin({ disconnectAfterMs: 20 }) // by the wall clock: before its first word, or after
    const { session, records } = begun
    await session.sendPrompt('Count.')
    const end = await rested(session)
    expect(end).toBe(retries(await records()).length > 0 ? 'done' : 'failed')
    if (end === 'failed') await session.continue()
    expect(await rested(session)).toBe('done')
    expect(said(await records()).at(-1)).toBe('Done.')
    await isSound(begun)
  })
})
