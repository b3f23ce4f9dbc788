// Not compiled by the tests of Dramatis, which have no Unreal Engine: everything that can go wrong is in include/dramatis, which
// they run.
#pragma once

#include "Components/AudioComponent.h"
#include "Components/SkeletalMeshComponent.h"
#include "CoreMinimal.h"
#include "IWebSocket.h"
#include "Sound/SoundWaveProcedural.h"

#include <memory>

#include "DramatisComponent.generated.h"

namespace dramatis {
class Talk;
}

DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FDramatisText, const FString&, Text);

/** A character of a Dramatis server: add it to an actor with a skeletal mesh whose morph targets are those of ARKit. */
UCLASS(ClassGroup = (Dramatis), meta = (BlueprintSpawnableComponent))
class DRAMATIS_API UDramatisComponent : public UAudioComponent
{
    GENERATED_BODY()

public:
    UDramatisComponent();

    /** Address of the server, such as ws://localhost:8080. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Dramatis") FString Url = TEXT("ws://localhost:8080");
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Dramatis") FString Character = TEXT("alice");
    /** A client secret from your own server; empty for a server on this machine. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Dramatis") FString Key;
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Dramatis") USkeletalMeshComponent* Face = nullptr;
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Dramatis") float MouthStrength = 0.8f;

    /** Words of the character, as they come. */
    UPROPERTY(BlueprintAssignable, Category = "Dramatis") FDramatisText OnSays;
    /** A cue or an action as its word is heard, as JSON. */
    UPROPERTY(BlueprintAssignable, Category = "Dramatis") FDramatisText OnActs;
    /** Every event of the server, as JSON. */
    UPROPERTY(BlueprintAssignable, Category = "Dramatis") FDramatisText OnReceives;

    UFUNCTION(BlueprintCallable, Category = "Dramatis") void Say(const FString& Text);
    UFUNCTION(BlueprintCallable, Category = "Dramatis") void Interrupt();
    /** 16-bit little-endian mono sound at 24 kHz, from your audio capture. */
    UFUNCTION(BlueprintCallable, Category = "Dramatis") void SendAudio(const TArray<uint8>& Pcm16);

    virtual void BeginPlay() override;
    virtual void EndPlay(const EEndPlayReason::Type Reason) override;
    virtual void TickComponent(float DeltaTime, ELevelTick TickType, FActorComponentTickFunction* ThisTickFunction) override;

private:
    void Dial(const FString& Query, const TArray<FString>& Protocols);
    void MoveMouth();

    UPROPERTY() USoundWaveProcedural* Wave = nullptr;
    TSharedPtr<IWebSocket> Socket;
    TArray<uint8> Message;
    std::shared_ptr<dramatis::Talk> Talk;
};
