/** A whole document came where a stream was asked for: an error of the service, or the words of somebody else. */
export class WholeDocument extends Error {
  override readonly name = 'WholeDocument'
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** Its beginning, which holds a whole error. */
  readonly body: string

  constructor({ url, headers }: Response, body: string) {
    super(`the answer is a document (${headers.get('content-type')}) and no stream`)
    this.url = url
    this.headers = Object.fromEntries(headers)
    this.body = body
  }
}
