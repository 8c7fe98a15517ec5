import { aMessage, aMeta, aView } from '@holdfast/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClientId } from '../value/id.ts'
import { Frame } from './frame.ts'
import { createRecordFrame, createSnapshotFrame, encodeFrame } from './sse.ts'

const sessionId = 'ses_01k9xyzabcdefghjkmnpqrstvw'
const said = (text: string): Frame =>
  Frame.parse({
    type: 'record',
    sessionId,
    record: {
      seq: 7,
      at: '2026-01-02T03:04:05.678Z',
      v: 1,
      event: { type: 'user.said', turn: 0, content: [{ type: 'text', text }] },
    },
  })
const delta = (text: string): Frame =>
  Frame.parse({ type: 'delta', sessionId, step: 3, part: 0, kind: 'text', index: 0, text })

const asText = (pieces: readonly Uint8Array[]) => pieces.map((piece) => new TextDecoder().decode(piece)).join('')

describe('the event stream', () => {
  it("sends a record's seq as the event id, so that a browser reconnects with it", () => {
    expect(asText(encodeFrame(said('hi')))).toMatch(/^id: 7\nevent: record\ndata: \{.*\}\n\n$/)
  })

  it('sends no event id with a delta', () => {
    expect(asText(encodeFrame(delta('hi')))).not.toMatch(/^id:/m)
  })

  it('sends the text of an event that is encoded already, byte for byte as JSON.stringify would', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isNamed) => {
        const plain = said(text)
        if (plain.type !== 'record') return
        const { event, ...head } = plain.record
        const record = { ...head, ...(isNamed && { by: ClientId.parse('ada') }), event }
        const frame = createRecordFrame(plain.sessionId, record, JSON.stringify(event))
        expect(asText(encodeFrame(frame))).toBe(asText(encodeFrame({ ...plain, record })))
      }),
    )
  })

  it('encodes the messages of a snapshot once for all who come at its seq', () => {
    const here = { clients: [], storageError: null, credentialsConfigured: true, contextTokens: 1, workspaceTrust: [] }
    const recorded = {
      seq: 3,
      view: aView(),
      messages: [aMessage('notice', { level: 'info', text: 'hi\u2028' })],
      before: null,
      summary: 'so far',
    }
    const frames = [null, here].map((own) =>
      createSnapshotFrame(recorded, { sessionId: aMeta().id, meta: aMeta(), here: own }),
    )
    const [[, one], [, two]] = frames.map(encodeFrame) as [readonly Uint8Array[], readonly Uint8Array[]]
    expect(one).toBe(two)
    for (const frame of frames) {
      const [, json = ''] = /^event: snapshot\ndata: (.*)\n\n$/s.exec(asText(encodeFrame(frame))) ?? []
      expect(JSON.parse(json)).toEqual(frame)
    }
  })

  it('encodes a frame once for all subscribers', () => {
    const frame = said('once')
    expect(encodeFrame(frame)).toBe(encodeFrame(frame))
  })
})
