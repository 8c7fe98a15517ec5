import { type AnyBlock, type AnyStrictAnswer, type AnyStrictServer, strictServices } from '@holdfast/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { type ChaosSession, openChaosSession } from './chaos-session.ts'
import { listCutTexts, listRetryNotes, listTexts } from './recorded-text.ts'
import { cases } from './services.ts'
import { waitForRest, waitForText } from './wait-for.ts'

const thought = 'Thinking that may not come to its end.'
const words = 'Words that may not: \u{1f30a} naïve.'
const call: AnyBlock = { type: 'call', tool: 'count', args: {}, opaque: 'sig+/c=' }
const message = (...content: readonly AnyBlock[]) => ({ type: 'message', content }) as const
/** The tool runs once before the failure. */
const first = message({ type: 'think', text: 'First.', opaque: 'opaque+/1=' }, call)
const second = message({ type: 'think', text: thought, opaque: 'opaque+/2=' }, { type: 'say', text: words }, call)
const done = message({ type: 'say', text: 'Done.' })

type FinishedSession = ChaosSession & { readonly server: AnyStrictServer; readonly end: string; asked(): number }

describe.each(cases)('$service', ({ service, model }) => {
  let opened = new AsyncDisposableStack()
  afterEach(async () => {
    await opened.disposeAsync()
    opened = new AsyncDisposableStack()
  })

  async function begin(...script: readonly AnyStrictAnswer[]): Promise<Omit<FinishedSession, 'end'>> {
    const server = opened.use(await strictServices[service].start())
    const runtime = opened.use(await openChaosSession(server.url, model))
    server.answer(...script)
    return { ...runtime, server, asked: () => server.requests.length }
  }

  /** Runs a turn with one tool call, then the scripted answers. */
  async function live(...script: readonly AnyStrictAnswer[]): Promise<FinishedSession> {
    const begun = await begin(first, ...script)
    await begun.session.sendPrompt('Count.')
    return { ...begun, end: await waitForRest(begun.session) }
  }

  /** Continues after a failure: every service accepts the history, and no tool runs again. */
  async function goesOn({ session, server, ran, complaints, problems }: FinishedSession): Promise<void> {
    expect(await session.status()).toBe('error')
    server.answer(done)
    await session.continue().accepted
    expect(await waitForRest(session)).toBe('done')
    expect(ran()).toBe(1)
    expect(await complaints()).toEqual([])
    expect(server.requests.flatMap(({ complaint }) => complaint ?? [])).toEqual([])
    expect(problems).toEqual([])
  }

  const tries = async ({ end, asked, ran, records }: FinishedSession) => ({
    end,
    asked: asked(),
    ran: ran(),
    retries: listRetryNotes(await records()).length,
  })

  it('is retried if cut before its first text; later the text is kept and continued', async () => {
    const ends: string[] = []
    for (let events = 0; ; events++) {
      const lived = await live({ ...second, after: { events, detour: { type: 'cut' } } }, done)
      if (lived.ran() === 2) break // it ended before the cut
      ends.push(lived.end)
      const records = await lived.records()
      if (lived.end === 'done') {
        expect(await tries(lived)).toEqual({ end: 'done', asked: 3, ran: 1, retries: 1 })
        expect(listCutTexts(records)).toEqual([])
        continue
      }
      expect(await tries(lived)).toEqual({ end: 'failed', asked: 2, ran: 1, retries: 0 })
      const kept = listTexts(records)
      expect(kept.filter((text) => !thought.startsWith(text) && !words.startsWith(text))).toEqual([])
      expect(listCutTexts(records)).toEqual(kept.slice(-1))
      expect(kept.length).toBeGreaterThan(0)
      await goesOn(lived)
    }
    const asked = ends.lastIndexOf('done') + 1
    expect(ends).toEqual([...Array(asked).fill('done'), ...Array(ends.length - asked).fill('failed')])
    expect(asked).toBeGreaterThan(0)
    expect(ends.length).toBeGreaterThan(asked)
  })

  it.each([429, 500, 529])('is retried after HTTP %i, up to three times', async (status) => {
    const error = { type: 'error', status, message: 'Not now.' } as const
    const once = await live(error, done)
    expect(await tries(once)).toEqual({ end: 'done', asked: 3, ran: 1, retries: 1 })
    const ever = await live(error, error, error, error)
    expect(await tries(ever)).toEqual({ end: 'failed', asked: 5, ran: 1, retries: 3 })
    await goesOn(ever)
  })

  it('is retried after the given wait, but not after a long one', async () => {
    const later = (seconds: number): AnyStrictAnswer => ({
      type: 'error',
      status: 429,
      message: 'Not now.',
      headers: { 'retry-after': String(seconds) },
    })
    const soon = await live(later(7), done)
    expect([soon.end, listRetryNotes(await soon.records())]).toEqual(['done', [expect.stringContaining('in 7 s')]])
    const late = await live(later(3600))
    expect(await tries(late)).toEqual({ end: 'failed', asked: 2, ran: 1, retries: 0 })
    await goesOn(late)
  })

  it('is not retried after a refusal', async () => {
    const lived = await live({ type: 'error', status: 400, message: 'That is against the rules.' })
    expect(await tries(lived)).toEqual({ end: 'failed', asked: 2, ran: 1, retries: 0 })
    await goesOn(lived)
  })

  const nothings: Readonly<Record<string, AnyStrictAnswer>> = {
    'no answer': { type: 'drop' },
    'a stream of nothing': { ...second, after: { events: 0, detour: { type: 'stop' } } },
    silence: { type: 'hang' },
    'a stream that stays silent': { ...second, after: { events: 0, detour: { type: 'hang' } } },
  }

  it('is retried after any of these', async () => {
    const all = await Promise.all(
      Object.entries(nothings).map(async ([name, nothing]) => [name, await tries(await live(nothing, done))] as const),
    )
    const again = { end: 'done', asked: 3, ran: 1, retries: 1 }
    expect(Object.fromEntries(all)).toEqual(Object.fromEntries(Object.keys(nothings).map((name) => [name, again])))
  })

  const noise = { type: 'noise', text: 'data: {malformed json: <<<\n\n' } as const

  it.each<AnyStrictAnswer>([
    { ...second, after: { events: 0, detour: noise } },
    { type: 'page', status: 200, body: '<p>Log in to the network.</p>' },
    { type: 'page', status: 200, body: '{malformed json: <<<' },
  ])('that sends nonsense from the start is not retried, and can be continued: $type', async (nonsense) => {
    const lived = await live(nonsense)
    expect(await tries(lived)).toEqual({ end: 'failed', asked: 2, ran: 1, retries: 0 })
    await goesOn(lived)
  })

  it.each([{ type: 'hang' }, noise, { type: 'stop' }] as const)(
    'keeps the text before a $type and continues from it',
    async (detour) => {
      const spoken = message({ type: 'say', text: words }, call)
      const lived = await live({ ...spoken, after: { events: strictServices[service].firstWords, detour } })
      expect(await tries(lived)).toEqual({ end: 'failed', asked: 2, ran: 1, retries: 0 })
      const kept = listCutTexts(await lived.records())
      expect(kept).toHaveLength(1)
      expect(words.startsWith(kept[0] ?? '-')).toBe(true)
      await goesOn(lived)
    },
  )

  it('may send an empty answer, and answers the next prompt', async () => {
    const { session, server, ran, complaints, end } = await live(message())
    expect(end).toBe('done')
    server.answer(done)
    await session.sendPrompt('Well?')
    expect(await waitForRest(session)).toBe('done')
    expect(ran()).toBe(1)
    expect(await complaints()).toEqual([])
    expect(server.requests.map(({ complaint }) => complaint)).toEqual([null, null, null])
  })

  it('may send single bytes slowly, with the same answer', async () => {
    const lived = await live({ ...second, dribble: { bytes: 61, everyMs: 4 } }, done)
    expect(await tries(lived)).toEqual({ end: 'done', asked: 3, ran: 2, retries: 0 })
    expect(listTexts(await lived.records()).slice(-2)).toEqual([words, 'Done.'])
  })

  it('that never ends is aborted, and its text is kept', async () => {
    const endless = Array<AnyBlock>(2_000).fill({ type: 'say', text: 'on and on, ' })
    const { session, records } = await begin({ ...message(...endless), dribble: { bytes: 100, everyMs: 1 } })
    await session.sendPrompt('Say it all.')
    await waitForText(session, 'on')
    await session.abort()
    expect(await waitForRest(session)).toBe('aborted')
    expect(listCutTexts(await records())).toHaveLength(1)
  })
})
