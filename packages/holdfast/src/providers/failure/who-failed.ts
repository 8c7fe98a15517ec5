/** Who failed, and what a person is told to look at. */
export type Service = {
  /** As people call it: `OpenAI`. */
  readonly title: string
  /** The model that was asked, by the service's name for it. */
  readonly modelId: string
  /** Where it is called, without anything secret of the address. */
  readonly endpoint?: string | undefined
  /** Where a person put the key: `ANTHROPIC_API_KEY`. */
  readonly keyName: string
}
