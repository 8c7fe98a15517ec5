/** An image as it may be sent to any provider. */
export type FittedImage = {
  readonly bytes: Uint8Array
  readonly mediaType: string
  /** What was done to it, for people; absent when it was fine as it came. */
  readonly changed?: string | undefined
}

/** Why an image cannot be sent. `unavailable`: nothing here can decode images. */
export type UnfitImage = 'damaged' | 'too large' | 'unavailable'

/** Decodes images. The work is never done on the event loop. */
export interface Images {
  /**
   * Decodes the whole image, and scales it down where a provider would refuse it. `damaged` when it cannot be decoded or
   * is of another type, `too large` when it weighs too much however it is packed.
   */
  fit(bytes: Uint8Array, mediaType: string): Promise<FittedImage | UnfitImage>
}
