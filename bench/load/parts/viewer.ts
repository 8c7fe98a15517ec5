import { connect, type Socket } from 'node:net'
import { sharedNowMs } from './percentiles.ts'

export type Target = {
  readonly url: string
  readonly path: string
  readonly token: string
  /** Keeps the connection open after one side has ended. */
  readonly allowHalfOpen?: boolean
}

/** What a viewer got so far. */
export type Seen = {
  status: number
  /** The newest record; -1 before the first. A snapshot does not count. */
  lastId: number
  records: number
  /** Records and words that did not follow the one before. */
  missed: number
  words: number
  readonly events: Map<string, number>
  /** The reason of the `end` frame. */
  end: string | null
  isClosed: boolean
  bytes: number
}

/** Tails of this length may hold the beginning of a marker. */
const tailChars = 80
const marker = /\n(?:id: (\d+)\n|event: (\w+)\n(?:data: [^\n]*?"reason":"(\w+)")?)|(\d+)@(\d+\.\d+) /g

export type Viewer = ReturnType<typeof openViewer>

/**
 * Opens a stream on a plain socket and reads only what it needs, so that as much as possible of the machine is left for
 * the server. `late` gets the delay of each word.
 */
export function openViewer(
  { url, path, token, allowHalfOpen = false }: Target,
  late: (ms: number) => void,
  after?: number,
) {
  const { hostname, port, host } = new URL(url)
  const seen: Seen = {
    status: 0,
    lastId: after ?? -1,
    records: 0,
    missed: 0,
    words: 0,
    end: null,
    isClosed: false,
    bytes: 0,
    events: new Map(),
  }
  let last = { word: -1, at: 0 }
  let current = ''
  let tail = ''
  let changed = Promise.withResolvers<void>()

  const read = (chunk: Buffer) => {
    seen.bytes += chunk.byteLength
    const text = tail + chunk.toString('latin1')
    if (seen.status === 0) seen.status = Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0)
    let end = 0
    for (const [found, id, event, reason, word, at] of text.matchAll(marker)) {
      end = text.indexOf(found, end) + found.length
      if (id !== undefined) noteRecord(Number(id))
      else if (event !== undefined) noteEvent(event, reason)
      else noteWord(Number(word), Number(at))
    }
    tail = text.slice(Math.max(end, text.length - tailChars))
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const noteRecord = (id: number) => {
    if (seen.lastId >= 0 && id !== seen.lastId + 1) seen.missed += 1
    seen.lastId = id
    seen.records += 1
    current = 'record'
  }
  const noteEvent = (event: string, reason: string | undefined) => {
    seen.events.set(event, (seen.events.get(event) ?? 0) + 1)
    current = event
    if (event === 'end') seen.end = reason ?? ''
  }
  const noteWord = (word: number, at: number) => {
    // A record repeats the words of the whole answer, a draft those so far. A service that is late sends two in a microsecond.
    const isRepeated = at < last.at || (at === last.at && word <= last.word)
    if ((current !== 'delta' && current !== 'draft') || isRepeated) return
    if (word !== 0 && word !== last.word + 1) seen.missed += 1
    last = { word, at }
    seen.words += 1
    late(sharedNowMs() - at)
  }

  const socket: Socket = connect({ host: hostname, port: Number(port), allowHalfOpen })
  socket.on('data', read)
  socket.on('error', () => undefined) // `close` follows
  socket.on('close', () => {
    seen.isClosed = true
    changed.resolve()
  })
  const base = after === undefined ? path : path.replace(/\?after=\d+/, '')
  const cursor = after === undefined ? '' : `${base.includes('?') ? '&' : '?'}after=${after}`
  socket.write(`GET ${base}${cursor} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`)

  return {
    seen,
    socket,
    /** Waits until the viewer has seen enough, or its connection is closed. */
    async until(isEnough: (seen: Seen) => boolean): Promise<void> {
      while (!isEnough(seen) && !seen.isClosed) await changed.promise
    },
  }
}
