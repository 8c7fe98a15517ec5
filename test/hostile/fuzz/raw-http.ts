import { connect } from 'node:net'

/** What came back on one connection. */
export type RawAnswer = {
  /** 0 if the connection was closed without an answer. */
  readonly status: number
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** The beginning of it, if it is a stream. */
  readonly body: string
  /** How many answers the connection carried: more than one for requests that were smuggled. */
  readonly answers: number
}

/** How long a server may leave a connection open without a byte. Longer than all its own timeouts for idle clients. */
const silentMs = 30_000

/**
 * Sends bytes, reads one answer, and then everything that comes until the server closes. Leaves a stream of events after
 * its head. `isCut` ends the connection after the bytes, as a client does that was cut, for a request that has no end.
 */
export function sendBytes(port: number, bytes: Uint8Array, { isCut = false } = {}): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const isHead = Buffer.from(bytes.subarray(0, 5)).toString() === 'HEAD '
    const socket = connect(port, '127.0.0.1')
    const finish = () => {
      socket.destroy()
      resolve(parseAnswer(received))
    }
    socket.on('connect', () => (isCut ? socket.end(bytes) : socket.write(bytes)))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const text = received.toString('latin1')
      const head = /^(?:HTTP\/1\.1 1\d\d [^\r]*\r\n\r\n)?(HTTP\/1\.1 [\s\S]*?)\r\n\r\n/.exec(text)
      if (head?.[1] === undefined) return
      if (/content-type: text\/event-stream/i.test(head[1])) finish()
      else if (!isCut && (isHead || isComplete(head[1], text.slice(head[0].length)))) socket.end()
    })
    // A server may reset a connection after its answer, because it does not read the rest of the request.
    socket.on('error', () => undefined)
    socket.on('close', finish)
    socket.setTimeout(silentMs, () => {
      const sent = JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 300))
      reject(
        new Error(
          `no answer within ${silentMs} ms to ${sent}; received ${JSON.stringify(received.toString('latin1').slice(0, 300))}`,
        ),
      )
      socket.destroy()
    })
  })
}

/** Returns whether an answer has arrived whole. One without a length ends with its connection, or has no body. */
function isComplete(head: string, body: string): boolean {
  const length = /content-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return body.length >= Number(length)
  return !/transfer-encoding: *chunked/i.test(head) || body.endsWith('0\r\n\r\n')
}

const interim = /^HTTP\/1\.1 1\d\d [^\r]*\r\n\r\n/

function parseAnswer(received: Buffer): RawAnswer {
  const bytes = received.subarray(interim.exec(received.toString('latin1', 0, 100))?.[0].length ?? 0)
  const text = bytes.toString('latin1')
  const headEnd = text.indexOf('\r\n\r\n')
  const head = headEnd < 0 ? text : text.slice(0, headEnd)
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Map(
    lines.map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
  const rest = headEnd < 0 ? Buffer.alloc(0) : bytes.subarray(headEnd + 4)
  const length = headers.get('content-length')
  const body = length === undefined ? rest : rest.subarray(0, Number(length))
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0),
    headers,
    body: headers.get('transfer-encoding') === 'chunked' ? unchunk(body) : body.toString('utf8'),
    answers: text.split(/^HTTP\/1\.1 \d{3} /m).length - 1,
  }
}

/** Joins the chunks of a chunked body. */
function unchunk(bytes: Buffer): string {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (lineEnd < 0 || !(size > 0)) break
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return Buffer.concat(parts).toString('utf8')
}
