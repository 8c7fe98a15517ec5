import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { systemErrorCode } from '../../system/system-error.ts'
import type { DiskLocation } from './store-location.ts'

/** Returns a fault if `path`, with links resolved, is the store itself or inside it: a copy cannot be there. */
export async function findInsideFault(store: DiskLocation, path: string): Promise<Fault | null> {
  const real = await realPathOf(path)
  for (const own of [store.path, store.blobsDir]) {
    if (!isWithin(await realPathOf(own), real)) continue
    const message = `${path} is inside the store ${store.url}. Choose another path for the copy.`
    return fault('bad_request', message, { store: store.url, path })
  }
  return null
}

function isWithin(directory: string, path: string): boolean {
  const steps = relative(directory, path)
  return steps !== '..' && !steps.startsWith(`..${sep}`) && !isAbsolute(steps)
}

/** Resolves links in the part of the path that exists. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT' || dirname(path) === path) throw error
    return join(await realPathOf(dirname(path)), basename(path))
  }
}
