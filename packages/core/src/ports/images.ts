/** An image that any provider accepts. */
export type FittedImage = {
  /** The encoded image. */
  readonly bytes: Uint8Array
  /** Its type, such as `image/png`. */
  readonly mediaType: string
  /** What was changed, for people; absent when nothing was. */
  readonly changed?: string | undefined
}

/** Why an image cannot be sent. `unavailable`: no image decoder is installed. */
export type UnfitImage = 'damaged' | 'too large' | 'unavailable'

/** Decodes images, never on the event loop. */
export interface Images {
  /**
   * Decodes an image and scales it down if a provider would refuse it. `damaged`: it cannot be decoded or has another
   * type. `too large`: it stays too large however it is encoded.
   */
  fit(bytes: Uint8Array, mediaType: string): Promise<FittedImage | UnfitImage>
}
