import { type Fault, fault } from '@holdfast/protocol'

export const blobTooLarge = (bytesMax: number): Fault =>
  fault('too_large', `A file may hold at most ${bytesMax} bytes.`, { limit: 'blobBytesMax', bytesMax })
