import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'

/** Where objects are: a bucket, and how their keys begin. */
export type S3Place = {
  readonly bucket: string
  /** How keys begin: empty, or it ends with a slash. */
  readonly prefix: string
  /** The server; null for Amazon. */
  readonly endpoint: URL | null
  readonly region: string
}

const usualRegion = 'us-east-1'

/** Parses `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`. Refused: bad_request. */
export function parseS3Url(text: string): Result<S3Place> {
  const url = URL.canParse(text) ? new URL(text) : null
  const bucket = url?.hostname ?? ''
  if (url?.protocol !== 's3:' || !/^[a-z0-9][a-z0-9.-]{1,62}$/.test(bucket) || url.username || url.hash)
    return refuse(badUrl(text))
  const { endpoint, region = usualRegion, ...others } = Object.fromEntries(url.searchParams)
  const server = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint) : null
  const isServer = server === null || (/^https?:$/.test(server.protocol) && !server.search && !server.username)
  const path = url.pathname.replace(/^\/|\/$/g, '')
  const isPlain = /^[\w./-]*$/.test(path) && !/(^|\/)\.{0,2}\//.test(`${path}/`.slice(path === '' ? 1 : 0))
  if (!isServer || (endpoint !== undefined && server === null) || !/^[a-z0-9-]+$/.test(region) || !isPlain)
    return refuse(badUrl(text))
  if (Object.keys(others).length > 0) return refuse(badUrl(text))
  return ok({ bucket, prefix: path === '' ? '' : `${path}/`, endpoint: server, region })
}

/** Returns the URL of a place, with everything that is needed to read from it later except a secret. */
export function s3Url({ bucket, prefix, endpoint, region }: S3Place): string {
  const query = new URLSearchParams({ ...(endpoint && { endpoint: endpoint.href }), region })
  return `s3://${bucket}/${prefix}?${query}`
}

/** Returns the address of an object: in the path of a server of one's own, in the host name at Amazon. */
export function objectUrl({ bucket, prefix, endpoint, region }: S3Place, key: string): URL {
  if (endpoint) return new URL(`${endpoint.href.replace(/\/$/, '')}/${bucket}/${prefix}${key}`)
  return new URL(`https://${bucket}.s3.${region}.amazonaws.com/${prefix}${key}`)
}

const badUrl = (text: string) =>
  fault(
    'bad_request',
    'The place for files is not one of S3. Use s3://BUCKET/PREFIX, with ?endpoint=https://HOST&region=NAME for a server of your own.',
    { blobs: text.slice(0, 200) },
  )
