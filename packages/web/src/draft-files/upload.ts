import { type FaultCode, fault, faultStatus, ok, type Result, refuse, StoredFile } from '@holdfast/protocol'

export type Upload = {
  readonly done: Promise<Result<StoredFile>>
  readonly stop: () => void
}

/**
 * Sends a file to the server and reports how much of it has arrived, from 0 to 1. `fetch` cannot report that, so this is the
 * one request of the page that does not go through the client.
 */
export function uploadFile(file: File, onProgress: (share: number) => void): Upload {
  const request = new XMLHttpRequest()
  const done = new Promise<Result<StoredFile>>((resolve) => {
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total))
    request.addEventListener('load', () => resolve(parseAnswer(request.response, file.name)))
    for (const end of ['error', 'timeout', 'abort'])
      request.addEventListener(end, () =>
        resolve(refuse(fault('unreachable', `${file.name} was not sent. Try again.`))),
      )
  })
  request.open('POST', `/v1/blobs?name=${encodeURIComponent(file.name.slice(-255))}`)
  request.responseType = 'json'
  request.setRequestHeader('content-type', 'application/octet-stream')
  request.send(file)
  return { done, stop: () => request.abort() }
}

function parseAnswer(answer: unknown, name: string): Result<StoredFile> {
  const stored = StoredFile.safeParse(answer)
  if (stored.success) return ok(stored.data)
  const given = typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : null
  const isFault = typeof given === 'object' && given !== null && 'code' in given && 'message' in given
  if (!isFault || !isCode(given.code))
    return refuse(fault('unreachable', `The server did not accept ${name}. Try again.`))
  return refuse(fault(given.code, String(given.message)))
}

const isCode = (given: unknown): given is FaultCode => typeof given === 'string' && given in faultStatus
