import { createHmac, hash } from 'node:crypto'

/** Who signs. The token belongs to keys that expire. */
export type S3Credentials = { readonly keyId: string; readonly secret: string; readonly token?: string | undefined }

type Unsigned = {
  readonly method: string
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const sha256 = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Encodes all but the characters that AWS names as unreserved. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** Returns the headers of a request, signed as AWS describes it in "Signature Version 4", with the hash of the body. */
export function signRequest(
  { method, url, headers = {}, body }: Unsigned,
  { keyId, secret, token }: S3Credentials,
  { region, nowMs }: { readonly region: string; readonly nowMs: number },
): Readonly<Record<string, string>> {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '')
  const signed: Readonly<Record<string, string>> = {
    ...headers,
    host: url.host,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': time,
    ...(token !== undefined && { 'x-amz-security-token': token }),
  }
  const names = Object.keys(signed).toSorted()
  const path = decodeURIComponent(url.pathname).split('/').map(encode).join('/')
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted()
  const lines = names.map((name) => `${name}:${signed[name]?.trim()}\n`).join('')
  const canonical = [method, path, query.join('&'), lines, names.join(';'), signed['x-amz-content-sha256']].join('\n')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`)
  const signature = hmac(key as Buffer, text).toString('hex') // the last of four
  const { host: _, ...sent } = signed // set by the client itself
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`,
  }
}
