import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A small server that speaks the protocol of S3 for one bucket, and refuses what is not signed correctly. */
export interface FakeS3 {
  readonly endpoint: string
  readonly bucket: string
  /** The environment that has its keys. */
  readonly environment: Readonly<Record<string, string>>
  /** The stored objects by key. */
  readonly objects: Map<string, Buffer>
  /** Each request that was refused, and why. */
  readonly refused: string[]
  /** Answers the next requests with these statuses instead. */
  readonly failNext: (...statuses: readonly number[]) => void
  close(): Promise<void>
}

const [keyId, secret, region] = ['FAKEKEYID', 'a secret of/the+fake', 'here-1']
const clockMsMax = 15 * 60_000

/** Starts the fake on a free loopback port. */
export async function startFakeS3(bucket = 'files'): Promise<FakeS3> {
  const objects = new Map<string, Buffer>()
  const refused: string[] = []
  const failing: number[] = []

  async function answer(request: IncomingMessage): Promise<{ readonly status: number; readonly body?: Buffer }> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const failure = failing.shift()
    if (failure !== undefined) return { status: failure }
    const wrong = findWrong(request, body)
    if (wrong !== null) {
      refused.push(`${request.method} ${request.url}: ${wrong}`)
      return { status: 403 }
    }
    const path = decodeURIComponent(request.url ?? '')
    if (!path.startsWith(`/${bucket}/`)) return { status: 404 }
    const key = path.slice(bucket.length + 2)
    if (request.method === 'PUT') objects.set(key, body)
    if (request.method === 'DELETE') objects.delete(key)
    const found = objects.get(key)
    if (request.method === 'GET') return found ? { status: 200, body: found } : { status: 404 }
    return { status: request.method === 'PUT' ? 200 : 204 }
  }

  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => response.writeHead(status).end(body),
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a TCP server
  return {
    bucket,
    objects,
    refused,
    endpoint: `http://127.0.0.1:${port}`,
    environment: { AWS_ACCESS_KEY_ID: keyId, AWS_SECRET_ACCESS_KEY: secret },
    failNext: (...statuses) => void failing.push(...statuses),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/

/** Returns what is wrong with the signature of a request; null for a correct one. */
function findWrong({ method, url = '', headers }: IncomingMessage, body: Buffer): string | null {
  const [, sentId, day, sentRegion, names = '', signature] = authorization.exec(headers.authorization ?? '') ?? []
  if (signature === undefined) return 'no signature'
  if (sentId !== keyId || sentRegion !== region) return 'another key or region'
  const time = String(headers['x-amz-date'])
  const atMs = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!time.startsWith(day ?? '') || !(Math.abs(Date.now() - atMs) < clockMsMax)) return 'another time'
  const sum = createHash('sha256').update(body).digest('hex')
  if (headers['x-amz-content-sha256'] !== sum) return 'another body'
  const list = names.split(';')
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => list.includes(name))) return 'unsigned headers'
  if (list.join() !== list.toSorted().join()) return 'unsorted headers'
  const [path, query = ''] = url.split('?')
  const canonical = `${method}\n${path}\n${query}\n${list.map((name) => `${name}:${headers[name]}\n`).join('')}\n${names}\n${sum}`
  const hashed = createHash('sha256').update(canonical).digest('hex')
  let key: Buffer | string = `AWS4${secret}`
  for (const part of [day ?? '', region, 's3', 'aws4_request']) key = createHmac('sha256', key).update(part).digest()
  const text = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${hashed}`
  return createHmac('sha256', key).update(text).digest('hex') === signature ? null : 'a wrong signature'
}
