import { expect, it } from 'vitest'
import { eventTokens } from '../view/usage-folds.ts'
import { FilePart } from './content.ts'
import { TurnNumber } from './id.ts'
import { isTextType, properMediaType } from './media-type.ts'

it.each([
  ['image/jpg', 'image/jpeg'],
  ['IMAGE/PNG', 'image/png'],
  ['text/plain; charset=utf-8', 'text/plain'],
  ['application/x-pdf', 'application/pdf'],
  ['constructor', 'constructor'],
  ['', ''],
])('normalizes %s to %s', (claimed, proper) => {
  expect(properMediaType(claimed)).toBe(proper)
})

it('normalizes the media type of a file part', () => {
  const part = { type: 'file', blob: '0'.repeat(64), mediaType: 'image/JPG', bytes: 1 }
  expect(FilePart.parse(part).mediaType).toBe('image/jpeg')
})

it('recognizes the names of text types', () => {
  expect(['text/x-rust', 'application/json', 'image/svg+xml', 'application/ld+json'].every(isTextType)).toBe(true)
  expect(['image/png', 'application/pdf', 'application/octet-stream', ''].some(isTextType)).toBe(false)
})

it('counts a text file by the bytes that are sent', () => {
  const tokens = (mediaType: string, bytes: number) =>
    eventTokens({
      type: 'user.said',
      turn: TurnNumber.parse(0),
      content: [FilePart.parse({ type: 'file', blob: '0'.repeat(64), mediaType, bytes })],
    })
  expect(tokens('text/plain', 4000)).toBe(1000)
  expect(tokens('text/plain', 10_000_000)).toBe(65_536)
  expect(tokens('image/png', 3_000_000)).toBe(1600)
})
