import { randomBytes } from 'node:crypto'

/** How a file that is being made is told from one that is there; what a crash leaves of them is removed. */
export const draftMark = '.new-'

/** Where a file stands until it is whole and takes the place of `path`. Names its process, so that what a dead one left is known. */
export const temporaryPath = (path: string): string =>
  `${path}${draftMark}${process.pid}-${randomBytes(6).toString('hex')}`
