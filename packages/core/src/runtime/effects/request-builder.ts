import { buildRequest } from '../../context/build-request.ts'
import type { RequestBuilder } from '../../ports/request-builder.ts'
import type { Blobs } from '../../ports/store/blobs.ts'
import type { Log } from '../../ports/store/log.ts'
import { readFiles } from '../blobs/read-blob.ts'
import { readWindow } from '../log/read-window.ts'

export { WindowDamaged } from '../log/read-window.ts'

/** Builds requests on the thread that calls it. */
export function createRequestBuilder(log: Pick<Log, 'read' | 'readRefs'>, blobs: Pick<Blobs, 'open'>): RequestBuilder {
  return {
    async build(asked) {
      const window = await readWindow(log, asked.session, asked)
      const files = await readFiles(blobs, window, asked.takes)
      return buildRequest({ ...asked, window, files })
    },
  }
}
