import { LLMock } from '@copilotkit/aimock'
import { startStrictProxy } from '@holdfast/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { type ChaosSession, openChaosSession } from './chaos-session.ts'
import { listCutTexts, listRetryNotes, listTexts } from './recorded-text.ts'
import { cases } from './services.ts'
import { waitForRest } from './wait-for.ts'

type Chaos = Parameters<LLMock['setChaos']>[0]

const words = 'Words that may not come to their end, one way or another. '.repeat(4)

/** The script of aimock: the first answer calls a tool, the next ones are text. */
const spoken = [
  { content: '', toolCalls: [{ name: 'count', arguments: '{}' }] },
  { content: words },
  { content: 'Done.' },
]

describe.each(cases)('$service in aimock', ({ model }) => {
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
    const runtime = opened.use(await openChaosSession(front.url, model))
    return { mock, front, ...runtime }
  }

  type Begun = Awaited<ReturnType<typeof begin>>

  /** Runs one normal turn, then a turn with a failing service. */
  async function live(chaos: Chaos): Promise<Begun & { readonly end: string }> {
    const begun = await begin()
    const { mock, session } = begun
    await session.sendPrompt('Count.')
    expect(await waitForRest(session)).toBe('done')
    mock.setChaos(chaos)
    await session.sendPrompt('And now?')
    return { ...begun, end: await waitForRest(session) }
  }

  async function isIntact({ ran, complaints, front, problems }: ChaosSession & Pick<Begun, 'front'>): Promise<void> {
    expect(ran()).toBe(1)
    expect(await complaints()).toEqual([])
    expect(front.requests.flatMap(({ complaint }) => complaint ?? [])).toEqual([])
    expect(problems).toEqual([])
  }

  it.each([
    ['dropped', { dropRate: 1 }, 3],
    ['rate-limited', { rateLimitRate: 1 }, 3],
    ['disconnected', { disconnectRate: 1 }, 3],
    // A page instead of a stream means a wrong address, so a retry would not help.
    ['malformed', { malformedRate: 1 }, 0],
  ])('that is %s is retried while that helps, and can then be continued', async (_, chaos, again) => {
    const lived = await live(chaos)
    const { mock, session, records, front } = lived
    expect([lived.end, front.requests.length, listRetryNotes(await records()).length]).toEqual([
      'failed',
      3 + again,
      again,
    ])
    mock.clearChaos()
    await session.continue().accepted
    expect(await waitForRest(session)).toBe('done')
    await isIntact(lived)
  })

  it('is waited for if it is slow', async () => {
    const lived = await live({ latencyMs: 200 }) // 20 seconds on the session's clock
    expect([lived.end, listRetryNotes(await lived.records())]).toEqual(['done', []])
    await isIntact(lived)
  })

  it('keeps its text until the cut', async () => {
    const begun = await begin({ truncateAfterChunks: 12 })
    const { session, records } = begun
    await session.sendPrompt('Count.')
    expect(await waitForRest(session)).toBe('failed')
    const kept = listCutTexts(await records())
    expect(kept.map((text) => text !== '' && words.startsWith(text))).toEqual([true])
    await session.continue().accepted
    expect(await waitForRest(session)).toBe('done')
    await isIntact(begun)
  })

  it('is retried or continued after every disconnect', async () => {
    const begun = await begin({ disconnectAfterMs: 20 }) // in real time: before or after the first text
    const { session, records } = begun
    await session.sendPrompt('Count.')
    const end = await waitForRest(session)
    expect(end).toBe(listRetryNotes(await records()).length > 0 ? 'done' : 'failed')
    if (end === 'failed') await session.continue().accepted
    expect(await waitForRest(session)).toBe('done')
    expect(listTexts(await records()).at(-1)).toBe('Done.')
    await isIntact(begun)
  })
})
