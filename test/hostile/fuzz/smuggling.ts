import type { FuzzWorld } from './fuzz-world.ts'

/**
 * Returns requests whose length two servers could read differently, each with a second request inside that would rename
 * a session. The second one must never be answered.
 */
export function smugglingAttempts({ port, callers, session }: FuzzWorld): readonly string[] {
  const secret = callers.find(({ name }) => name === 'admin')?.secret
  const usual = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${secret}\r\n`
  const command = '{"type":"rename","title":"smuggled"}'
  const inner =
    `POST /v1/sessions/${session}/commands HTTP/1.1\r\n${usual}Content-Type: application/json\r\n` +
    `Content-Length: ${command.length}\r\nConnection: close\r\n\r\n${command}`
  const outer = (headers: string, body: string) =>
    `POST /v1/login HTTP/1.1\r\n${usual}Content-Type: application/json\r\n${headers}\r\n\r\n${body}`
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  const chunked = 'Transfer-Encoding: chunked'
  return [
    outer(`Content-Length: 5\r\n${chunked}`, `0\r\n\r\n${inner}`),
    outer(`${chunked}\r\nContent-Length: 5`, `0\r\n\r\n${inner}`),
    outer('Content-Length: 0\r\nContent-Length: 5', inner),
    outer('Content-Length: 0, 0', inner),
    outer('Content-Length: +0', inner),
    outer('Content-Length:\r\n 0', inner),
    outer('Content-Length : 0', inner),
    outer('Transfer-Encoding: xchunked', `0\r\n\r\n${inner}`),
    outer('Transfer-Encoding: chunked, identity', `0\r\n\r\n${inner}`),
    outer('Transfer-Encoding: identity, chunked\r\nTransfer-Encoding: x', `0\r\n\r\n${inner}`),
    outer('Transfer-Encoding\r\n: chunked', `0\r\n\r\n${inner}`),
    outer('X: y\rTransfer-Encoding: chunked', `0\r\n\r\n${inner}`),
    outer('X: y\nTransfer-Encoding: chunked\nContent-Length: 0', inner),
    outer(chunked, `0x0\r\n\r\n${inner}`),
    outer(chunked, `-1\r\n\r\n${inner}`),
    outer(chunked, `fffffffffffffffff\r\n${inner}`),
    outer(chunked, `${chunk('{')}0;a=b\nX: y\r\n\r\n${inner}`),
    outer(chunked, `1\r\n{x\r\n0\r\n\r\n${inner}`),
    outer(chunked, `1\n{\n0\n\n${inner}`),
    `GET /v1/health HTTP/1.1\r\n${usual}Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\nPRI * HTTP/2.0\r\n\r\n`,
    `GET /v1/health HTTP/1.1\n${usual.replaceAll('\r', '')}\n${inner}`,
    `GET /v1/health HTTP/0.9\r\n\r\n${inner}`,
    `GET /v1/health HTTP/3.0\r\n${usual}\r\n${inner}`,
    `GET /v1/health\r\n\r\n${inner}`,
    `\u0000GET /v1/health HTTP/1.1\r\n${usual}\r\n${inner}`,
    `\u0016\u0003\u0001 hello over TLS`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n${usual}\r\n${inner}`,
    '\r\n'.repeat(50),
  ]
}
