import { crc32, deflateSync } from 'node:zlib'

function chunk(type: string, body: Uint8Array): Uint8Array {
  const named = Buffer.concat([Buffer.from(type), body])
  const whole = Buffer.alloc(named.length + 8)
  whole.writeUInt32BE(body.length, 0)
  whole.set(named, 4)
  whole.writeUInt32BE(crc32(named), named.length + 4)
  return whole
}

/** A real image, all of one colour. */
export function aPng(width = 2, height = 3): Uint8Array {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0])
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))),
    chunk('IEND', new Uint8Array()),
  ])
}

const bytesOf = (base64: string): Uint8Array => Buffer.from(base64, 'base64')

/** 2x3, each of them. */
export const aJpeg = bytesOf(
  '/9j/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAADAAIDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABAX/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCWAKuv/9k=',
)
export const aGif = bytesOf('R0lGODlhAgADAIAAAExpccwAACH5BAUAAAAALAAAAAACAAMAAAICjF8AOw==')
export const aWebp = bytesOf(
  'UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoCAAMAAUAmJaACdLoB+AADsAD+91kv/kFpXLeAP/4yp8ZU+Mqf8XMAAAA=',
)
export const aWebpWithoutLoss = bytesOf('UklGRhwAAABXRUJQVlA4TA8AAAAvAYAAAAcQZY7+ByKi/wEA')
export const anAlphaWebp = bytesOf(
  'UklGRkYAAABXRUJQVlA4WAoAAAAQAAAAAQAAAgAAQUxQSAcAAAAAgICAgICAAFZQOCAYAAAAMAEAnQEqAgADAAdAliWkAANwAP7vlkAA',
)

/** One empty page. */
export const aPdf: Uint8Array = Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 3 3]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`)
