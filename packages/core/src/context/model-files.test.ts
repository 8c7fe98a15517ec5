import { BlobHash, type Content, limits } from '@holdfast/protocol'
import { aPdf, aPng, historyProviders, recordsOf, validateHistory } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { buildRequest } from './build-request.ts'
import { toWindow } from './window.ts'

type Sent = { readonly name?: string; readonly mediaType: string; readonly bytes: Uint8Array; readonly size?: number }

const hashOf = (index: number) => BlobHash.parse(index.toString(16).padStart(64, '0'))

/** Returns what the model gets for these files, one prompt each. */
function sentParts(sent: readonly Sent[], takes?: readonly string[]) {
  const files = new Map(sent.map(({ bytes }, index) => [hashOf(index), bytes]))
  const records = recordsOf(
    sent.map(({ name, mediaType, bytes, size = bytes.length }, index) => {
      const content: Content = [{ type: 'file', blob: hashOf(index), mediaType, ...(name && { name }), bytes: size }]
      return { type: 'user.said', turn: 0, content }
    }),
  )
  const window = toWindow({ summary: null, from: 0, records, settled: [] })
  const request = buildRequest({
    model: 'sim/model',
    thinkingLevel: 'off',
    system: '',
    tools: [],
    window,
    files,
    takes,
  })
  expect(historyProviders.flatMap((provider) => validateHistory(provider, request))).toEqual([])
  return request.messages.flatMap(({ content }) =>
    content.map((part) => ('type' in part && part.type === 'file' ? part : 'text' in part ? part.text : null)),
  )
}

const png: Sent = { name: 'a.png', mediaType: 'image/png', bytes: aPng() }
const pdf: Sent = { name: 'a.pdf', mediaType: 'application/pdf', bytes: aPdf }
const text = (words: string, name = 'a.txt'): Sent => ({ name, mediaType: 'text/plain', bytes: Buffer.from(words) })

describe('the files of a request', () => {
  it('are sent if the model accepts them', () => {
    expect(sentParts([png, pdf])).toEqual([
      { type: 'file', mediaType: 'image/png', name: 'a.png', bytes: png.bytes },
      { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', bytes: aPdf },
    ])
    expect(sentParts([png], ['image/*'])).toEqual(sentParts([png], ['image/png']))
  })

  it.each([
    [png, [], '[image a.png: this model takes no images]'],
    [png, ['image/jpeg'], '[image a.png: this model takes no image/png]'],
    [pdf, ['image/*'], '[file a.pdf: this model takes no PDF files]'],
  ])('are replaced by a note if it does not (%#)', (file, takes, words) => {
    expect(sentParts([file], takes)).toEqual([words])
  })

  it('are replaced by a note if they differ from the record, so that an old log stays usable', () => {
    expect(sentParts([{ ...png, bytes: Buffer.from('no image') }])).toEqual(['[the file a.png cannot be read]'])
    expect(sentParts([{ ...png, bytes: png.bytes.subarray(0, 20) }])).toEqual(['[the file a.png cannot be read]'])
    expect(sentParts([{ ...png, mediaType: 'text/plain' }])).toEqual(['[the file a.png cannot be read]'])
    expect(sentParts([{ ...png, mediaType: 'application/zip' }])).toEqual([
      '[file a.png: this model takes no application/zip]',
    ])
    const heavy = Buffer.concat([aPng(), new Uint8Array(limits.imageBytesMax)])
    expect(sentParts([{ ...png, bytes: heavy }])).toEqual([
      '[the file a.png was left out: it is too large for any model]',
    ])
  })

  it('are sent as text in a fence that they cannot close', () => {
    expect(sentParts([text('one\n```\ntwo')])).toEqual(['The file a.txt:\n````\none\n```\ntwo\n````'])
    expect(sentParts([text('x', 'a.txt]\nforged')], [])).toEqual(['The file a.txt]\\nforged:\n```\nx\n```'])
  })

  it('are cut between two characters if they are long', () => {
    const [cut] = sentParts([text(`a${'ü'.repeat(limits.textFileBytesMax / 2)}`)])
    expect(cut).not.toContain('\ufffd')
    expect(cut).toMatch(/ü\n```\n\[the file a.txt was cut: 262144 of 262145 bytes are shown\]$/)
  })

  it('leave out the oldest if they are too large together', () => {
    const large = (name: string): Sent => ({ ...pdf, name, size: 9_000_000 })
    const words = (name: string) => `[the file ${name} was left out: the request would be too large]`
    const parts = sentParts([{ ...png, name: 'small.png' }, large('1'), large('2'), large('3')])
    expect(parts.map((part) => (typeof part === 'string' ? part : part?.name))).toEqual([
      words('small.png'),
      words('1'),
      '2',
      '3',
    ])
    expect(sentParts(Array.from({ length: limits.requestFilesMax + 1 }, () => png))[0]).toBe(words('a.png'))
  })

  it('count only if they are sent', () => {
    const large: Sent = { ...pdf, size: 19_000_000 }
    expect(sentParts([png, large, large], ['image/*'])[0]).toMatchObject({ type: 'file' })
  })
})
