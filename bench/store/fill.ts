import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { orThrow } from '@holdfast/protocol'
import { openSqliteStore } from '../../packages/holdfast/src/store/sqlite/sqlite-store.ts'
import { catchUpIndex } from '../../packages/holdfast/src/store/sqlite/write/writer.ts'
import { writeSession } from '../fixtures/write-session.ts'
import { createZipfText } from '../fixtures/zipf-text.ts'

export type Filling = {
  readonly sessions: number
  readonly messagesEach: number
  readonly meanBytes: number
}

export type Filled = {
  readonly messages: number
  /** Bytes of the messages as UTF-8. */
  readonly messageBytes: number
  /** Bytes of the closed store file, including the word index. */
  readonly fileBytes: number
  readonly seconds: number
  /** Time from the last acknowledgement until search finds the last message. */
  readonly indexSeconds: number
}

const writtenAtOnce = 200
const indexedWithinMs = 1_800_000
const lastWord = 'harbourmaster'
export const firstMs = Date.UTC(2026, 0, 1)
export const betweenMs = 60_000
export const workspaces = 100
export const workspaceOf = (session: number): string => `/srv/project-${session % workspaces}`

/** Fills a store through its own appends. The sessions start a minute apart and belong to a hundred workspaces. */
export async function fillStore(path: string, { sessions, messagesEach, meanBytes }: Filling): Promise<Filled> {
  const store = orThrow(await openSqliteStore({ path }))
  const text = createZipfText(7)
  const started = performance.now()
  let messageBytes = 0
  for (let first = 0; first < sessions; first += writtenAtOnce) {
    const count = Math.min(writtenAtOnce, sessions - first)
    const batch = Array.from({ length: count }, (_, index) => {
      const number = first + index
      const texts = Array.from({ length: messagesEach }, () => text.textAbout(meanBytes))
      for (const one of texts) messageBytes += one.length // the text is ASCII
      return { number, workdir: workspaceOf(number), atMs: firstMs + number * betweenMs, texts }
    })
    await Promise.all(batch.map((session) => writeSession(store, session)))
  }
  await writeSession(store, {
    number: sessions,
    workdir: '/last',
    atMs: firstMs + sessions * betweenMs,
    texts: [`Where is the ${lastWord}?`, 'At the quay.'],
  })
  const written = performance.now()
  while (orThrow(await store.search({ text: lastWord, limit: 1 })).hits.length === 0) {
    if (performance.now() - written > indexedWithinMs) throw new Error('search does not find the last message')
    await delay(50)
  }
  const indexed = performance.now()
  await store.close()
  while (catchUpIndex(path)); // a search finds what is not indexed too, but the size is that of a complete index
  return {
    messages: sessions * messagesEach,
    messageBytes,
    fileBytes: (await stat(path)).size,
    seconds: (written - started) / 1000,
    indexSeconds: (indexed - written) / 1000,
  }
}
